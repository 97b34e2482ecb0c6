"""Classes with `__torch_function__` as libraries write them: programs that run under both modules and must end the same
way."""
from .test_graph import both_agree
from .test_torch_function import ended, shown


def test_tensors_that_carry_units():
    def program(lib):
        class Unit(lib.Tensor):
            @staticmethod
            def __new__(cls, data, unit):
                made = lib.as_tensor(data, dtype=lib.float32).as_subclass(cls)
                made.unit = unit
                return made

            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                units = [x.unit for x in args if isinstance(x, Unit)]
                if func in (lib.add, lib.Tensor.add) and len(set(units)) > 1:
                    raise TypeError(f"{units[0]} and {units[1]}")
                result = super().__torch_function__(func, types, args, kwargs or {})
                if isinstance(result, Unit):
                    result.unit = "*".join(units) if func in (lib.mul, lib.Tensor.mul) else units[0] if units else ""
                return result
        m, s = Unit([1., 2.], "m"), Unit([3., 4.], "s")
        results = [m + m, m * s, m.sum(), lib.mul(m, m), m[0], m.max(), 2 * m]
        return [(shown(x), x.unit) for x in results], ended(lambda: m + s), ended(lambda: lib.add(m, s))
    both_agree(program)


def test_tensors_that_pass_their_attributes_on():
    def program(lib):
        class Base(lib.Tensor):
            def __new__(cls, x, **attributes):
                made = lib.as_tensor(x).as_subclass(cls)
                made.__dict__.update(attributes)
                return made

            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                result = super().__torch_function__(func, types, args, kwargs or {})
                if isinstance(result, Base):
                    for x in args:
                        if isinstance(x, Base):
                            result.__dict__.update(x.__dict__)
                return result

        class Image(Base):
            pass

        class Mask(Base):
            pass
        image, mask = Image(lib.ones(2, 2), size=3), Mask(lib.zeros(2, 2))
        results = [image * 2, image.sum(), image[0], image.float() / 3, image == 1]
        found = [(shown(x), x.__dict__.get("size")) for x in results]
        return found, ended(lambda: image + mask), ended(lambda: lib.stack([image, image])), shown(mask.long())
    both_agree(program)


def test_containers_that_are_no_tensors():
    def program(lib):
        class Dict:
            def __init__(self, parts):
                self.parts = parts

            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                if not all(issubclass(kind, (Dict, lib.Tensor)) for kind in types):
                    return NotImplemented
                values = args[0] if func in (lib.stack, lib.cat) else args
                names = next(x for x in values if isinstance(x, Dict)).parts

                def part(name):
                    taken = [x.parts[name] if isinstance(x, Dict) else x for x in values]
                    given = taken if values is args else [taken, *args[1:]]
                    return func(*given, **(kwargs or {}))
                return Dict({name: part(name) for name in names})
        d = Dict({"a": lib.ones(2), "b": lib.zeros(1)})
        results = [lib.add(d, 1), lib.stack([d, d]), lib.cat([d, d], 0), lib.clone(d), lib.zeros_like(d),
                   lib.unsqueeze(d, 0),
                   lib.nn.functional.relu(d), lib.exp(d), lib.ones(1) + d, lib.sum(d, dim=0), lib.squeeze(d),
                   lib.permute(d, (0,)),
                   lib.nn.Tanh()(d), lib.mul(d, d)]
        return [{name: shown(x) for name, x in result.parts.items()} for result in results]
    both_agree(program)
