"""What languages have without any package: names, types, members, and what the modules of their libraries export."""
