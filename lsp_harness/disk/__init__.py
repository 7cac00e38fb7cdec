"""Opening, reading and replacing files by name, so that nothing that lies under the name can block, flood or damage anything."""
