"""Names that languages have without a package: built-in names, types, members, and the exports of standard modules."""
