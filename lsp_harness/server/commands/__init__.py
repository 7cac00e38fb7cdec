"""What each command of `commands` does, one file each.

A file has `COMMAND` and `async def run(client, snapshot, params)`. `document(params)`, where a file has it, says which
document the command works on; its snapshot is frozen when the message arrives.
"""
