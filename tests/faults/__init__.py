"""Every command under every fault of its surroundings: disks, folders, special files, locales, homes, engines."""
