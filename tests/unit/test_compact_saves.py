"""torch.save(compact=True): what is in the file, and that it loads as it was, memory in common included."""
import io
import os
import random
import zipfile

import pytest

import tinytorch as torch


def saved(obj, **options):
    file = io.BytesIO()
    torch.save(obj, file, **{"compact": True, **options})
    return file


def loaded(file, **options):
    file.seek(0)
    return torch.load(file, **options)


def storages(file):
    """The bytes of the storages."""
    with zipfile.ZipFile(file) as archive:
        return [archive.read(name) for name in archive.namelist() if "/data/" in name]


def same(a, b):
    assert a.shape == b.shape and a.dtype == b.dtype and torch.equal(a, b) and a.requires_grad == b.requires_grad


def test_a_view_alone():
    big = torch.arange(10_000.).reshape(100, 100)
    for view, strides, elements in (
            (big[3], (1,), 100), (big[:, 3], (1,), 100), (big[::7, ::9], (12, 1), 180), (big[2:4].t(), (1, 100), 200),
            (big[5, 5], (), 1), (big[:0], (100, 1), 0), (big[:3, None, 4:7], (3, 3, 1), 9),
            (big[0, :3].expand(4, 3), (0, 1), 3), (big[0].unfold(0, 3, 2)[:5], (2, 1), 11), (big, (100, 1), 10_000)):
        file = saved(view)
        back = loaded(file)
        same(back, view)
        assert [s for s, n in zip(back.stride(), back.shape) if n > 1] == [
            s for s, n in zip(strides, back.shape) if n > 1]
        assert sum(map(len, storages(file))) == 4 * elements


def test_nothing_that_is_not_shown_is_written():
    secret = torch.full((8,), 7, dtype=torch.uint8)
    for dtype, shown in ((torch.uint8, slice(3, 5)), (torch.int16, slice(1, 2)), (torch.uint16, slice(1, 3))):
        memory = secret.clone()
        view = memory.view(dtype)[shown]
        view.fill_(1)
        assert b"\7" not in b"".join(storages(saved(view)))
    assert b"\7" in b"".join(storages(saved(view, compact=False)))


def test_memory_in_common_stays_so():
    big = torch.arange(1000.)
    parts = [big[10:20], big[15:25], big[15:25].view(2, 5), big[100:104], big[100:104:2]]
    file = saved({"parts": parts, "again": parts[0]})
    assert [len(data) for data in storages(file)] == [4 * (15 + 4)]
    back = loaded(file)["parts"]
    for a, b in zip(parts, back):
        same(a, b)
    back[0][5] = -1
    assert back[1][0] == back[2][0, 0] == -1
    back[4][1] = -2
    assert back[3][2] == -2
    assert back[0].untyped_storage().data_ptr() == back[3].untyped_storage().data_ptr()


def test_gaps_that_no_strides_skip_are_written():
    big = torch.arange(100.)
    views = [big[0:20:2], big[5:8]]            # 0 2 4 5 6 7 8 10 ...: not a view of what is left
    file = saved(views)
    assert [len(data) for data in storages(file)] == [4 * 19]
    for a, b in zip(views, loaded(file)):
        same(a, b)


def test_random_views():
    draw = random.Random(5)
    fewer = 0
    for _ in range(200):
        memory = torch.arange(60).to(draw.choice([torch.int16, torch.float64, torch.uint32, torch.complex64]))
        views = []
        for _ in range(draw.randint(1, 4)):
            view = memory
            for _ in range(draw.randint(0, 3)):
                if view.ndim == 1 and view.numel() % 4 == 0 and view.numel():
                    view = draw.choice([view, view.reshape(4, -1) if view.is_contiguous() else view])
                dim = draw.randrange(view.ndim) if view.ndim else 0
                if view.ndim and view.shape[dim] > 1:
                    begin = draw.randrange(view.shape[dim] - 1)
                    view = view.narrow(dim, begin, draw.randint(1, view.shape[dim] - begin))
                    view = view[(slice(None),) * dim + (slice(None, None, draw.randint(1, 3)),)]
                if draw.random() < 0.3:
                    view = view.mT if view.ndim == 2 else view.unsqueeze(0)
            views.append(view)
        plain, file = saved(views, compact=False), saved(views)
        sizes = [sum(map(len, storages(f))) for f in (plain, file)]
        assert sizes[1] <= sizes[0]
        fewer += sizes[1] < sizes[0]
        back = loaded(file)
        for a, b in zip(views, back):
            same(a, b)
        for k in range(len(views)):            # a number written to one view is seen by all that show its element
            if views[k].numel():
                views[k].fill_(99 - k)
                back[k].fill_(99 - k)
                for a, b in zip(views, back):
                    same(a, b)
    assert fewer > 80


def test_models_and_storages_and_subclasses():
    torch.manual_seed(0)
    flat = torch.randn(1000)
    model = torch.nn.Linear(4, 3)
    model.weight = torch.nn.Parameter(flat[10:22].view(3, 4))
    model.register_buffer("mask", flat[500:503])
    model.register_buffer("rows", torch.eye(3).to_sparse())
    model.tied = model.weight
    file = saved(model)
    assert max(map(len, storages(file))) == 4 * 15
    back = loaded(file, weights_only=False)
    assert isinstance(back.weight, torch.nn.Parameter) and back.tied is back.weight and back.weight.requires_grad
    for a, b in zip(model.state_dict().values(), back.state_dict().values()):
        assert torch.equal(a.to_dense(), b.to_dense())
    numbers = torch.arange(100, dtype=torch.uint8)
    file = saved([numbers[3:5], numbers.untyped_storage()])
    assert [len(data) for data in storages(file)] == [100]       # a storage is written whole
    view, again = loaded(file)
    assert view.untyped_storage().data_ptr() == again.data_ptr() and view.tolist() == [3, 4]
    odd = torch.complex(flat[:4], flat[4:8]).conj()
    assert torch.equal(loaded(saved(odd[1:3])), odd[1:3])
    assert loaded(saved(torch.ones(2, 3, device="meta"))).shape == (2, 3)


def test_in_the_old_format_and_to_a_path(tmp_path):
    big = torch.arange(10_000.)
    file = saved([big[5:8], big[6:10]], _use_new_zipfile_serialization=False)
    assert file.tell() < 2000
    a, b = loaded(file)
    a[1] = -1
    assert b.tolist() == [-1, 7, 8, 9]
    path = tmp_path / "views.pt"
    torch.save(big[3:5], path, compact=True)
    assert os.path.getsize(path) < 2000 and torch.load(path).tolist() == [3, 4]
    with pytest.raises(TypeError):
        torch.save(big, path, "pickle", 2, True, True)           # by name alone


def test_objects_that_make_tensors_as_they_are_saved():
    class Makes:
        def __reduce__(self):
            return dict, ([("x", torch.arange(100.)[7:9])],)
    assert loaded(saved(Makes()), weights_only=False)["x"].tolist() == [7, 8]
