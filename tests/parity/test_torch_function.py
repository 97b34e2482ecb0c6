"""`__torch_function__` of subclasses of Tensor: programs that run under both modules and must see the same calls, with
the same arguments, and end the same way."""
import copy
import io
import pickle

import pytest
import torch

import tinytorch

from .test_graph import both_agree


def shown(x):
    """What there is to compare of a result: its class and numbers."""
    if isinstance(x, (tuple, list)):
        return type(x).__name__, [shown(item) for item in x]
    if hasattr(x, "detach"):
        return type(x).__name__, str(x.dtype), x.detach().tolist(), x.requires_grad
    return type(x).__name__, x if isinstance(x, (int, float, str, bool)) else None


def ended(act):
    """What an act gives, or the words of its error."""
    try:
        return shown(act())
    except Exception as error:
        return type(error).__name__, str(error)


def logging(lib):
    """(a class that notes the calls that it sees, the notes)"""
    log = []

    class Log(lib.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            given = {name: shown(value) for name, value in (kwargs or {}).items()}
            log.append((lib.overrides.resolve_name(func), [kind.__name__ for kind in types],
                        [type(arg).__name__ for arg in args], given))
            return super().__torch_function__(func, types, args, kwargs or {})
    return Log, log


# ------------------------------------------------------------------ what handlers see
OPERATORS = """x+x x+p p+x 2+x x+2 x-p p-x 2-x x*2 2*x x/2 2/x p/x x//2 2//x x%2 2%x x**2 2**x x@p p@x -x +x abs(x)
    x==p p==x x!=p x<2 2<x x<=p x>p x>=2 i&i i|i i^i i<<1 i>>1 1<<i 1>>i 2&i 2|i 2^i ~i x==None x!=None""".split()
METHODS = """x.shape x.dtype x.device x.layout x.grad x.grad_fn x.is_leaf x.requires_grad x.data x.T x.mT x.H
    x.real x.ndim x.itemsize x.nbytes x.is_cuda x.is_sparse x.is_meta x.name x._base x._version
    x.output_nr x.size() x.size(0) x.dim() x.numel() x.ndimension() x.nelement() x.stride()
    x.storage_offset() x.element_size() x.tolist() x.numpy() x[0] x[0,1] x[b] x[[0,1]] x[None] len(x)
    1.in.x bool(x.sum()) float(x.sum()) int(x.sum()) complex(x.sum()) repr(x) str(x)
    format(x.sum(),".2f") x.sum() x.sum(0,keepdim=True) x.max() x.max(0) x.topk(1) x.add(x,alpha=2)
    x.add(other=p) x.to(torch.float64) x.double() x.long() x.type() x.type_as(x) x.cpu() x.clone()
    x.detach() x.view(4) x.reshape(4) x.reshape(-1) x.expand(1,2,2) x.unbind() x.split(1) x.chunk(2)
    x.norm() x.unique() x.new_zeros(2) x.new_tensor([1.]) x.fill_(1.) x.add_(1) x.zero_() x.copy_(p)
    x.abs_() x.masked_fill(b,0.) x.pow(2) x.is_contiguous() x.contiguous() x.requires_grad_()
    x.is_floating_point() x.is_complex() x.storage().size() x.backward() x.register_hook(print)
    x.retain_grad() x.detach_() x.unflatten(0,(1,2)) x.as_subclass(torch.Tensor)
    x.__reduce_ex__(2).__class__ x._is_view() reversed(x) x.__contains__(1) x.is_shared()
    x.is_inference()""".split()
FUNCTIONS = """add(x,p) add(p,x) add(input=x,other=p) add(x,2,alpha=3) mul(2,x) sub(p,x) exp(x) relu(x) sigmoid(x)
    matmul(x,p) mv(p,x[0]) cat([x,p]) cat((p,x),1) cat([p,p],out=x) stack([p,x],dim=1) where(b,x,p)
    where(b,p,2.) sum(x) sum(x,dim=0) max(x,0) sort(x) topk(x,1) norm(x) einsum("ij,jk",p,x) einsum("ij,jk",(p,x))
    einsum("ij->ji",[x]) einsum(x,[0,1],p,[1,2]) einsum(p,[0,1],x,[1,2],[2,0]) einsum(x,[0,...],[...])
    norm(x,dim=0) split(x,1) meshgrid(x[0],p[0],indexing="ij") tensordot(x,p) unique(x)
    broadcast_tensors(p,x) atleast_1d(x) cartesian_prod(x[0],p[0]) block_diag(x,p) zeros_like(x)
    ones_like(x) full_like(x,2.) rand_like(x).shape empty_like(x).shape numel(x) is_tensor(x)
    is_floating_point(x) result_type(x,2) equal(x,p) allclose(x,p) tensor([1.]) as_tensor(x)
    add(p,p,out=x) clamp(x,0,1) cumsum(x,0) diagonal(x) tril(x) flip(x,(0,)) linalg.norm(x)
    linalg.det(x) linalg.solve(x+p,p) fft.fft(x) fft.rfft(p,norm="ortho") special.expit(x)
    special.erf(x) nn.functional.relu(x) nn.functional.relu(x,inplace=False) nn.functional.softmax(x,0)
    nn.functional.softmax(x,dim=1) nn.functional.gelu(x) nn.functional.linear(x,p)
    nn.functional.linear(p,x,x[0]) nn.functional.dropout(x,0.5,False) nn.functional.layer_norm(x,(2,))
    nn.functional.mse_loss(x,p) nn.functional.mse_loss(p,x,reduction="sum")
    nn.functional.cross_entropy(x,p) nn.functional.normalize(x) nn.functional.pad(x,(1,1))
    nn.functional.one_hot(i) nn.functional.embedding(i,p) nn.functional.max_pool1d(x,2)
    nn.functional.avg_pool1d(x,2) nn.functional.sigmoid(x)
    nn.functional.batch_norm(x,None,None,training=True) nn.functional.cosine_similarity(x,p)
    nn.functional.tanh(x) nn.functional.interpolate(x[None],4) nn.functional.conv1d(x,p[:,:,None])
    nn.functional.hardshrink(x) nn.functional.logsigmoid(x) nn.functional.softplus(x)
    nn.functional.unfold(x[None,None],1) nn.functional.glu(x) nn.init.zeros_(x)
    nn.init.uniform_(x,1.,1.) nn.init.constant_(x,2.) nn.init.normal_(x,0.,0.)""".split()


@pytest.mark.parametrize("texts", [OPERATORS, METHODS, ["torch." + text for text in FUNCTIONS]],
                         ids=["operators", "methods", "functions"])
def test_handlers_see_the_same(texts):
    def program(lib):
        found = {}
        Log, log = logging(lib)
        for text in texts:
            x = lib.tensor([[1., 2.], [0.5, 4.]]).as_subclass(Log)
            i = lib.tensor([[1, 0], [1, 1]]).as_subclass(Log)
            names = {"torch": lib, "x": x, "i": i, "p": lib.tensor([[1., 0.], [2., 1.]]), "b": lib.eye(2) > 0}
            log.clear()
            result = ended(lambda: eval(text.replace(".in.", " in "), names))
            found[text] = result if "error" in text else (result, list(log))
        return found
    both_agree(program)


def test_operators_in_place_and_writes_by_index():
    def program(lib):
        found = []
        Log, log = logging(lib)
        for text in ("x += 1", "x -= x", "x *= 2", "x /= 2", "x //= 2", "x %= 2", "x **= 2", "i &= i", "i |= 1",
                     "i ^= 1",
                     "i <<= 1", "i >>= 1", "x[0] = 1", "x[0, 1] = x[0, 0]", "x[x > 1] = 0", "p[0] = x[0]", "p += x",
                     "x.grad = x.detach()", "x.data = p", "x.requires_grad = True", "del x.grad"):
            names = {"x": lib.tensor([[1., 2.], [3., 4.]]).as_subclass(Log), "p": lib.ones(2, 2),
                     "i": lib.tensor([1, 2]).as_subclass(Log)}
            log.clear()
            exec(text, names)
            seen = list(log)
            found.append((text, seen, *[shown(names[name]) for name in "xpi"]))
        return found
    both_agree(program)


def test_modules_and_optimizers_are_seen_through():
    def program(lib):
        Log, log = logging(lib)
        lib.manual_seed(0)
        net = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.ReLU(), lib.nn.LayerNorm(3), lib.nn.Dropout(0.),
                                lib.nn.Tanh(),
                                lib.nn.Softmax(1), lib.nn.Flatten())
        result = net(lib.ones(2, 2).as_subclass(Log))
        seen = [(name, kinds) for name, kinds, _, _ in log]
        result.sum().backward()
        optimizer = lib.optim.SGD(net.parameters(), lr=0.5)
        optimizer.step()
        return seen, type(result).__name__, [type(p.grad).__name__ for p in net.parameters()]
    both_agree(program)


# ------------------------------------------------------------------ subclasses
def test_results_keep_the_class():
    def program(lib):
        class Base(lib.Tensor):
            pass

        class Sub(Base):
            pass

        class Other(lib.Tensor):
            pass

        class Plain(lib.Tensor):
            __torch_function__ = lib._C._disabled_torch_function_impl
        b, s, o = Base([1., 2.]), Sub([1., 2.]), Other([3., 4.])
        p, t = Plain([1., 2.]), lib.ones(2)
        acts = [lambda: b + t, lambda: t + b, lambda: b + s, lambda: s + b, lambda: s + s, lambda: b + o, lambda: o + b,
                lambda: lib.add(b, o), lambda: lib.cat([t, s]), lambda: lib.stack([b, s]), lambda: b[0],
                lambda: list(s),
                lambda: s.max(0), lambda: s.unbind(), lambda: lib.split(s, 1), lambda: lib.broadcast_tensors(t, s),
                lambda: p + t, lambda: p.clone(), lambda: p + s, lambda: lib.exp(p), lambda: s.sum().item(),
                lambda: s.numpy().tolist(), lambda: s.tolist(), lambda: lib.nn.functional.relu(s),
                lambda: s.to(lib.float64),
                lambda: s.as_subclass(Other) * 2, lambda: s.as_subclass(lib.Tensor) * 2, lambda: s.as_subclass(int),
                lambda: s.as_subclass(3), lambda: lib.Tensor._make_subclass(Sub, t, True),
                lambda: lib.Tensor._make_subclass(int, t), lambda: lib.Tensor._make_subclass(Sub, 2), lambda: sum([s,
                s]),
                lambda: s.new_zeros(1), lambda: s.new_tensor([1.]), lambda: s.detach(), lambda: s.data,
                lambda: s.view(2, 1),
                lambda: s.requires_grad_() * 2, lambda: s.grad, lambda: lib.as_tensor(b), lambda: lib.tensor(b),
                lambda: lib.Tensor.add(s, 1), lambda: Sub.mul(s, b), lambda: lib.Tensor._make_wrapper_subclass(Sub,
                (2,))]
        return [ended(act) for act in acts]
    both_agree(program)


def test_gradients_through_subclasses():
    def program(lib):
        class Sub(lib.Tensor):
            pass
        x = lib.tensor([1., 2.]).as_subclass(Sub).requires_grad_()
        y = (x * x * x).sum()
        first, = lib.autograd.grad(y, x, create_graph=True)
        second, = lib.autograd.grad(first.sum(), x)
        found = [shown(y), shown(first), shown(second), y.grad_fn.name(), first.grad_fn.name(), x.is_leaf]
        (x * 3).sum().backward()
        found += [shown(x.grad), x.grad is x.grad]
        plain = (x * x).sum().as_subclass(lib.Tensor)
        x.grad = None
        plain.backward()
        found += [shown(plain), shown(x.grad)]
        seen = []
        z = x * 2
        z.register_hook(lambda g: seen.append(shown(g)))
        z.sum().backward()
        leaf = lib.ones(2, requires_grad=True)
        view = leaf.as_subclass(Sub)
        (view * 2).sum().backward()
        return found, seen, shown(leaf.grad), view.grad_fn.name(), view._is_view(), view._base is leaf
    both_agree(program)


def test_constructors_of_subclasses():
    def program(lib):
        class New(lib.Tensor):
            @staticmethod
            def __new__(cls, data, tag="none", *args, **kwargs):
                return super().__new__(cls, data, *args, **kwargs)

            def __init__(self, data, tag="none"):
                self.tag = tag

        class Made(lib.Tensor):
            def __new__(cls, data, tag=None, requires_grad=False):
                made = lib.Tensor._make_subclass(cls, data, requires_grad)
                made.tag = tag
                return made
        a, b = New([1., 2.], "a"), Made(lib.ones(2), "b", True)
        found = [shown(a), a.tag, shown(b), b.tag, hasattr(a + 1, "tag"), hasattr(b.detach(), "tag"), b.is_leaf,
                 shown(New(2).shape), shown(b * a.as_subclass(lib.Tensor))]
        for x in (a, b):
            twin = pickle.loads(pickle.dumps(x.detach().as_subclass(lib.Tensor)))
            found += [shown(twin), shown(copy.copy(x)), ended(lambda: copy.deepcopy(x))]

        class Copied(lib.Tensor):
            def new_empty(self, *args, **kwargs):
                return super().new_empty(*args, **kwargs).as_subclass(Copied)

            def __deepcopy__(self, memo):
                return self.clone().as_subclass(Copied)
        return found, shown(copy.deepcopy(Copied([1.])))
    both_agree(program)


def test_parameters_of_subclasses():
    def program(lib):
        class Sub(lib.Tensor):
            pass
        parameter = lib.nn.Parameter(Sub([1., 2.]))
        found = [shown(parameter), repr(parameter), isinstance(parameter, lib.nn.Parameter), shown(parameter * 2)]
        module = lib.nn.Module()
        module.weight = parameter
        found.append([name for name, _ in module.named_parameters()])
        (module.weight * module.weight).sum().backward()
        lib.optim.SGD(module.parameters(), lr=0.25).step()
        found += [shown(module.weight), shown(module.weight.grad), shown(module.state_dict()["weight"])]
        module.to(lib.float64)
        return found + [shown(module.weight), ended(lambda: lib.nn.Parameter(Sub([1.]).long())),
                        shown(lib.nn.Parameter(Sub([1.]), requires_grad=False)),
                        ended(lambda: lib.nn.Parameter(lib.nn.Parameter(Sub([1.]))) + 1)]
    both_agree(program)


def named(cls):
    """A class that is found by its name, so that it can be pickled."""
    cls.__qualname__, cls.__module__ = cls.__name__, __name__
    globals()[cls.__name__] = cls
    return cls


@pytest.mark.parametrize("protocol", [2, 4])
def test_pickled_subclasses(protocol):
    def program(lib):
        @named
        class Picked(lib.Tensor):
            pass
        x = Picked([1., 2.])
        x.note = "kept"
        twin = pickle.loads(pickle.dumps(x, protocol))
        return shown(twin), twin.note
    both_agree(program)


def test_saved_subclasses():
    def program(lib):
        @named
        class Saved(lib.Tensor):
            pass
        x = Saved([1., 2.])
        x.note = [1]
        found = []
        for saved in (x, {"p": lib.nn.Parameter(Saved([1.])), "y": x.clone().requires_grad_()}):
            file = io.BytesIO()
            lib.save(saved, file)
            file.seek(0)
            found.append(ended(lambda: lib.load(file))[0])
            file.seek(0)
            loaded = lib.load(file, weights_only=False)
            file.seek(0)
            with lib.serialization.safe_globals([Saved]):
                found += [shown(x) for x in (loaded, lib.load(file))]
            tensors = loaded.values() if isinstance(loaded, dict) else [loaded]
            found += [(shown(x), vars(x).get("note"), isinstance(x, lib.nn.Parameter), x.is_leaf) for x in tensors]
        return found
    both_agree(program)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"])
def test_recurrent_layers_are_seen(name):
    def program(lib):
        Log, log = logging(lib)
        layer = getattr(lib.nn, name)(2, 3)
        with lib.no_grad():
            for p in layer.parameters():
                p.fill_(0.5)
        x = lib.ones(*(4, 1, 2)[1 if name.endswith("Cell") else 0:]).as_subclass(Log)
        result = layer(x)
        return shown(result), [entry for entry in log if "Tensor" not in entry[0]]
    both_agree(program)


class _Subclass(torch.Tensor):
    pass


@pytest.mark.parametrize("theirs", [torch.tensor([1]), torch.tensor([1]).as_subclass(_Subclass)], ids=["Tensor", "sub"])
@pytest.mark.parametrize("call", [
    lambda a, b: a + b, lambda a, b: b + a, lambda a, b: tinytorch.add(a, b), lambda a, b: torch.add(b, a),
    lambda a, b: a.add(b), lambda a, b: b.add(a), lambda a, b: b[a], lambda a, b: torch.stack([a, b]),
    lambda a, b: tinytorch.stack([a, b]), lambda a, b: torch.nn.functional.linear(a, a),
    lambda a, b: torch.linalg.det(a), lambda a, b: tinytorch.nn.functional.linear(b, a),
    lambda a, b: torch.Tensor.real.__get__(a), lambda a, b: tinytorch.Tensor.real.__get__(b)])
def test_the_tensors_of_two_libraries(call, theirs):
    with pytest.raises(TypeError):
        call(tinytorch.tensor([1]), theirs)


def test_the_tensors_of_two_libraries_are_not_equal():
    assert (tinytorch.tensor([1]) == torch.tensor([1])) is False
    assert (torch.tensor([1]) == tinytorch.tensor([1])) is False
