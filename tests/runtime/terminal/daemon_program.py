"""A program that becomes a daemon: two forks, its own session, no terminal. Its environment has no mark."""

import os

reader, writer = os.pipe()
if os.fork():
    os.close(writer)
    # the end of the pipe is closed by the start of `sleep`
    os.read(reader, 1)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
null = os.open(os.devnull, os.O_RDWR)
for descriptor in range(3):
    os.dup2(null, descriptor)
os.execvpe("sleep", ["sleep", "1000"], {})
