from __future__ import annotations

import numpy as np
import pytest

from mangen.pooling import cache, cache_disk, cache_format, tensors

torch = pytest.importorskip("torch", reason="torch is not installed: it is an extra")

DTYPES = [
    *(torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.complex64, torch.bool),
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float8_e4m3fn),
]


def make(tmp_path=None) -> cache.Cache:
    folder = str(tmp_path) if tmp_path else ""
    return cache.Cache(
        cache.Options(kinds={"text": cache.Policy()}, folder=folder, host_is_device=False)
    )


def raw(tensor) -> bytes:
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors_come_back_bit_exact_in_their_type(tmp_path, dtype):
    random = torch.randint(0, 2, (3, 16), dtype=torch.uint8)
    tensor = (random if dtype is torch.bool else random * 97).view(dtype)
    disk = cache_disk.Disk(tmp_path, 2**20)
    assert disk.put("k", "s", {"x": tensor, "n": [3, None]}, seconds=1.0)
    back = disk.get("k", "s").value
    assert back["n"] == [3, None]
    assert (back["x"].dtype, back["x"].shape) == (dtype, tensor.shape)
    assert raw(back["x"]) == raw(tensor)


def test_tensors_beside_arrays_come_back_each_in_its_framework():
    value = {"t": torch.ones(2), "n": np.arange(3, dtype=np.uint16), "zero": np.array(1.5)}
    back = cache_format.load("k", "s", cache_format.dump("k", "s", value, 1.0)).value
    assert isinstance(back["t"], torch.Tensor)
    assert type(back["n"]) is type(back["zero"]) is np.ndarray
    assert (back["n"].dtype, back["zero"].shape) == (np.uint16, ())
    np.testing.assert_array_equal(back["n"], value["n"])


def test_tensors_that_share_memory_or_are_lazy_come_back_as_they_look():
    base = torch.arange(12.0).reshape(3, 4)
    lazy = torch.tensor([1 + 2j, 3 - 4j]).conj()
    value = {"whole": base, "turned": base.T, "part": base[1], "wide": base[:1].expand(5, 4)}
    back = cache_format.load("k", "s", cache_format.dump("k", "s", {**value, "l": lazy}, 1.0)).value
    for name, tensor in value.items():
        assert torch.equal(back[name], tensor)
    assert torch.equal(back["l"], lazy.resolve_conj())
    back["whole"].add_(1)
    assert torch.equal(back["turned"], base.T)


@pytest.mark.parametrize(
    "tensor",
    [torch.eye(3).to_sparse(), torch.ones(2, device="meta"), torch.ones(2, dtype=torch.complex128)],
    ids=["sparse", "meta", "complex128"],
)
def test_tensors_that_the_format_lacks_are_not_written(tmp_path, tensor):
    assert not cache_disk.Disk(tmp_path, 2**20).put("k", "s", {"x": tensor}, seconds=1.0)


def test_a_slice_of_a_batch_keeps_neither_the_batch_nor_its_graph():
    batch = torch.ones(8, 100, requires_grad=True) * 2
    one = make()
    one.put("text", "a", {"x": batch[3:4]}, seconds=1.0)
    found = one.get("text", "a")["x"]
    assert one.nbytes == found.untyped_storage().nbytes() + 1 == 401
    assert not found.requires_grad
    assert found.grad_fn is None


def test_what_nothing_but_the_batch_is_behind_is_not_copied():
    tensor = torch.ones(100)
    one = make()
    one.put("text", "a", tensor, seconds=1.0)
    assert one.get("text", "a").data_ptr() == tensor.data_ptr()


def test_an_evicted_tensor_comes_back_from_disk(tmp_path):
    tensor = torch.randn(4, 4).bfloat16()
    one = make(tmp_path)
    one.put("text", "a", {"x": tensor}, seconds=1.0)
    one.close_session()
    other = make(tmp_path)
    assert torch.equal(other.get("text", "a")["x"], tensor)
    assert other.counters()["text"]["disk_hit"] == 1


def test_a_sparse_tensor_passes_by():
    one = make()
    one.put("text", "a", torch.eye(3).to_sparse(), seconds=1.0)
    assert one.counters()["text"]["bypass"] == 1


def test_host_tensors_are_not_on_a_device_and_pinning_starts_no_cuda():
    mover = tensors.TorchMover()
    tensor = torch.ones(3)
    assert not mover.on_device(tensor)
    assert mover.to_host(tensor) is tensor
    assert not torch.cuda.is_initialized()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_cuda_tensor_comes_down_pinned_and_bit_exact(tmp_path):
    tensor = torch.randn(64, 64, device="cuda").bfloat16()
    one = make(tmp_path)
    one.put("text", "a", {"x": tensor}, seconds=1.0)
    assert one.device_bytes == tensor.nbytes + 1
    one.close_session()
    assert one.get("text", "a")["x"] is not None
    assert one.compress(1) == tensor.nbytes + 1
    down = one.get("text", "a")["x"]
    assert down.is_pinned()
    assert torch.equal(down, tensor.cpu())
    assert torch.equal(make(tmp_path).get("text", "a")["x"], tensor.cpu())
