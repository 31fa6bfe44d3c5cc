"""Addresses of clusters: refused, or found to be silent, before Ray tries for minutes."""

import socket

import pytest

from pinakes.cluster.connect import connect_cluster, require_address, require_answer
from pinakes.errors import InputError, PinakesError


@pytest.mark.parametrize(
    "given",
    ["", "nonsense", "ray://", "ray://host", "http://host:1", "host:port", "host:63/x", "host:63\n"],
)
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(InputError, match="expected ray://HOST:PORT, HOST:PORT, auto, or local"):
        require_address(given)


@pytest.mark.parametrize("given", ["auto", "local", "ray://head:10001", "head.example:6379", "[::1]:6379"])
def test_an_address_is_kept_as_it_is(given: str) -> None:
    assert require_address(given) == given


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_an_address_where_nothing_answers_is_told_at_once(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(PinakesError, match=r"cannot be reached .*Start it, or leave --on out"):
        require_answer(f"{scheme}127.0.0.1:{port}")


@pytest.mark.parametrize("device", ["cuda:0", "tpu", "cpu,cpu"])
def test_all_workers_have_one_kind_of_device(device: str) -> None:
    with pytest.raises(InputError, match="expected cpu or cuda"), connect_cluster("local", device):
        pass
