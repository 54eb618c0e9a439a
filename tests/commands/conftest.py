"""What tests of commands share: the refusal in one line, and no network."""

import socket

import pytest
from hub_models import TEXT, write_token_model

from oversmoothing.commands import main


@pytest.fixture
def refused(capsys):
    """Run a command that must refuse its arguments; return the one line that says why."""

    def run(*arguments):
        capsys.readouterr()
        assert main([*map(str, arguments)]) == 1
        out, err = capsys.readouterr()
        assert not out
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        return err

    return run


@pytest.fixture
def no_network(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *others: pytest.fail("it asked the network"))


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """A small Llama, with a text, ``book.txt``, in its folder."""
    folder = tmp_path_factory.mktemp("llama")
    write_token_model(folder, "llama")
    (folder / "book.txt").write_text(TEXT, encoding="utf-8")
    return folder
