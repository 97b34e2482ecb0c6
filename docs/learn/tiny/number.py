"""A number with a gradient, from chapter 1."""
import math


def value(x):
    """`x` as a Value."""
    return x if isinstance(x, Value) else Value(x)


class Value:
    """A number that remembers how it was computed.

    data    the number
    inputs  the Values that it was computed from
    local   its derivative by each of the inputs
    grad    the derivative of a result by this number, once `backward` of that result has run
    """

    def __init__(self, data, inputs=(), local=()):
        self.data = float(data)
        self.inputs = inputs
        self.local = local
        self.grad = 0.0

    def __repr__(self):
        return f"Value({self.data:.4f}, grad={self.grad:.4f})"

    def __add__(self, other):
        other = value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, n):
        return Value(self.data ** n, (self,), (n * self.data ** (n - 1),))

    def exp(self):
        result = math.exp(self.data)
        return Value(result, (self,), (result,))

    def log(self):
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def tanh(self):
        result = math.tanh(self.data)
        return Value(result, (self,), (1 - result * result,))

    # The other operators follow from those above, and so do their derivatives.
    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -value(other)

    def __rsub__(self, other):
        return value(other) - self

    def __truediv__(self, other):
        return self * value(other) ** -1

    def __rtruediv__(self, other):
        return value(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def backward(self):
        """Adds to `grad` of each number that this one was computed from the derivative of this one by it."""
        order, seen = [], set()

        def visit(number):
            if number not in seen:
                seen.add(number)
                for x in number.inputs:
                    visit(x)
                order.append(number)           # after all of its inputs
        visit(self)
        self.grad = 1.0
        for number in reversed(order):
            for x, slope in zip(number.inputs, number.local):
                x.grad += number.grad * slope
