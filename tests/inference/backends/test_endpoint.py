"""Tests of the log records of a client of a Unix socket."""

import asyncio
import logging
import socket
from pathlib import Path

import anyio
import pytest

from lsp_harness.inference.backends import endpoint


async def cancel_read_as_data_comes(path: Path) -> None:
    """Cancel a read in the same turn of the loop in which its socket gets data."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        async with await anyio.connect_unix(path) as stream:
            with listener.accept()[0] as peer:
                read = asyncio.ensure_future(stream.receive())
                # up to where it waits for the socket
                for _ in range(3):
                    await asyncio.sleep(0)
                peer.send(b"x")
                asyncio.get_running_loop().call_soon(read.cancel)
                with pytest.raises(asyncio.CancelledError):
                    await read


async def test_a_read_that_is_cancelled_when_data_arrives_logs_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    # what it would be without us: if this passes on its own one day, the filter can go
    logging.getLogger("asyncio").removeFilter(endpoint.is_relevant_record)
    try:
        await cancel_read_as_data_comes(tmp_path / "a.sock")
        assert "InvalidStateError" in caplog.text
    finally:
        logging.getLogger("asyncio").addFilter(endpoint.is_relevant_record)
    caplog.clear()

    await cancel_read_as_data_comes(tmp_path / "b.sock")

    assert caplog.text == ""


async def test_other_messages_of_asyncio_are_logged(caplog: pytest.LogCaptureFixture):
    loop = asyncio.get_running_loop()
    loop.call_exception_handler({"message": "Exception in callback oh()", "exception": ValueError("kept")})
    loop.call_exception_handler({"message": "Exception in callback late()", "exception": asyncio.InvalidStateError()})

    assert [record.getMessage() for record in caplog.records] == [
        "Exception in callback oh()",
        "Exception in callback late()",
    ]
