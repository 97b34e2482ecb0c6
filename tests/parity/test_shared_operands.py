"""Writes where a value, an index or a mask lies in the memory that is written to: each program runs under both modules,
which give the same tensors and gradients, or refuse with the same words."""
import pytest

from .adapter import same_outcome

#: Refused if what is written overlaps what is read; numbers that go where a mask or an index says are read first.
STATEMENTS = """
x[i] = x; x[:5][i[:5]] = x[1:]; x[:5][i[:5]] = x[:5]; x[i] = x[0]; x[i[:1]] = x[1]; x.index_put_((i,), x); x[0] = x[1]
x.index_put_((i,), x, accumulate=True); x[:5].index_put_((i[:5],), x[1:]); x[:5] = x[1:]; x[1:] = x[:5]
l[l] = l + 0; l[l] = 1; l[:5][l[1:2]] = 1; l[l] = l[0]; l.put_(l, l + 1); l.index_fill_(0, l, 7); l.index_copy_(0, l, l)
l.index_add_(0, l, l + 1); l.scatter_(0, l, l + 1); l.scatter_(0, l, 1); x.index_reduce_(0, i, x, "prod"); x.put_(i, x)
x[x > 2] = x[0]; x[x > 9] = x[0]; x[x > -2] = x; x[:5][x[1:] > 2] = x[1]; x[:5][x[1:] > -2] = x[1:]; l[l > 2] = l[0]
l[b] = l[1]; l[(b,)] = l[1:2]; b[b] = False; b[b] = b[0]; b[~b] = b[0]; b[b] = b[:4]; b[:5][b[1:]] = True
b[b] = t.tensor(False); u[u > 2] = u[0]; m[m > 3] = m[0, 0]; m[0, m[0] > 1] = m[0, 0]; x[b] = x[1:2]
m[:, b[:4]] = m[0, 1]; m[:, i[:3]] = m[:, 1:4]; m[i[:1], i[:1]] = m[0, 0]; x[b.tolist()] = x[0]
b.masked_fill_(b, True); b[:5].masked_fill_(b[1:], True); x.masked_fill_(x > 2, x[3]); big.masked_fill_(big > 9, big[0])
x.masked_fill_(mask=x > 2, value=x[0]); x.index_fill_(0, i[:5], x[3]); x.index_fill_(0, i[:5], value=x[3])
big[big > 9] = big[0]; big.index_fill_(0, i, big[0]); x.div_(x[1]); x.add_(x[1]); x -= x[0]; x.fill_(x[3])
x.copy_(x[2]); x.clamp_(x[1], x[3]); x.lerp_(x, x[1]); x.pow_(x[2]); x.addcmul_(x, x[1]); x.fmod_(x[3])
t.add(x, x[1], out=x)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("statement", [text.strip() for text in STATEMENTS if text.strip()])
def test_memory_that_is_read_and_written(statement, tracked):
    def program(t):
        leaves = [t.arange(6.), t.arange(16.).reshape(4, 4), t.arange(200000.) + 1]
        x, m, big = [leaf.requires_grad_(tracked) * 1 for leaf in leaves]
        names = {"t": t, "x": x, "m": m, "big": big, "i": t.arange(6), "l": t.arange(6),
                 "u": t.arange(6, dtype=t.uint8), "b": t.tensor([True, False, True, True, False, True])}
        exec(statement, names)
        if tracked:
            sum([(names[name] * names[name]).sum() for name in ("x", "m", "big")]).backward()
        return [names[name].detach() for name in "xmlub"] + [big[:20].detach(), big.sum() if not tracked else 0] + [
            leaf.grad for leaf in leaves[:2]]
    same_outcome(program)
