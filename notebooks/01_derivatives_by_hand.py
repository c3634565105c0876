# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 1. Derivatives by hand
#
# A derivative answers one question: if I push this number a little, how far does that one move?
# In this lesson you answer it three times:
# by pushing, by the chain rule on paper, and by a small engine that you build from nothing.
# At the end you read the same engine in the library's own source.
#
# You need Python, and you should have heard of the slope of a curve. It takes about 50 minutes.
#
# **How to read it.** Where it says *What do you expect?*, write your guess down before you run the
# cell. A wrong guess is where you learn something.

# %%
import ast
import inspect
import math

from checks import check

# %% [markdown]
# ## Slope by nudging
#
# Here is a curve.


# %%
def curve(x):
    return 3 * x**2 - 4 * x + 5


curve(3.0)

# %% [markdown]
# Push `x` from 3 to 3.001 and look how far the curve moves.
# The move of the curve, divided by the push, is the slope.
#
# **What do you expect?** Is it positive or negative? Roughly how large?

# %%
h = 0.001
(curve(3.0 + h) - curve(3.0)) / h

# %% [markdown]
# On paper the slope is `6 * x - 4`, which is 14 at 3. The nudge gives a little more than 14,
# because the curve bends upwards between 3 and 3.001. A smaller `h` leaves less room to bend.
#
# **What do you expect?** The table goes down to `h = 1e-16`. Does each row get closer to 14?

# %%
print("    h                slope     error")
for exponent in range(1, 17):
    h = 10.0**-exponent
    slope = (curve(3.0 + h) - curve(3.0)) / h
    print(f"{h:.0e}  {slope:19.12f}  {abs(slope - 14):8.0e}")

# %% [markdown]
# The error shrinks until `h` is about `1e-8`. Then it grows again, and the last row is plain wrong.
# A float keeps about 16 digits. With a tiny `h` the two values of the curve agree in nearly all of
# them, and the difference is made of the digits that were rounded away.
# In the last row the push itself is lost:

# %%
print(3.0 + 1e-16 == 3.0)

# %% [markdown]
# So there are two errors. A large `h` lets the curve bend, a small `h` loses digits.
# Pushing to both sides helps: most of the bend cancels, and `h` need not be so small.


# %%
def nudge(f, x, h=1e-5):
    """The slope of f at x, by a push to both sides."""
    return (f(x + h) - f(x - h)) / (2 * h)


nudge(curve, 3.0)

# %% [markdown]
# **Exercise 1.1.** At which `x` is the curve flat, that is, where is its slope 0?
# Find it on paper, or try numbers with `nudge`.

# %%
### BEGIN SOLUTION
flat_at = 4 / 6
### END SOLUTION
check("1.1", flat_at)

# %% [markdown]
# ## Several inputs
#
# With three inputs there are three slopes. Push one input, hold the others still.


# %%
def line(a, b, c):
    return a * b + c


a, b, c = 2.0, -3.0, 10.0
line(a, b, c)

# %% [markdown]
# **What do you expect?** If `a` grows a little, does the result grow or shrink?
# And what are the slopes for `b` and for `c`?

# %%
print("slope for a:", nudge(lambda a: line(a, b, c), a))
print("slope for b:", nudge(lambda b: line(a, b, c), b))
print("slope for c:", nudge(lambda c: line(a, b, c), c))

# %% [markdown]
# The slope for `a` is `b`, the slope for `b` is `a`.
# In a product each input is scaled by the other.
# The slope for `c` is 1: a sum passes every push on as it is.
# (The last digits are the rounding from above.)
#
# All slopes together are called the **gradient**. This function collects them:


# %%
def gradient(f, *xs):
    """All slopes of f, one per input, by nudging."""
    slopes = []
    for i in range(len(xs)):
        slopes.append(nudge(lambda x, i=i: f(*xs[:i], x, *xs[i + 1 :]), xs[i]))
    return slopes


gradient(line, a, b, c)

# %% [markdown]
# It runs `f` twice for every input. A network with a million inputs would run two million times for
# one gradient. That is why we want a better way.
#
# **Exercise 1.2.** What is the gradient of `a / b` at `a = 6`, `b = -2`? Give two numbers, the
# slope for `a` first. Work it out on paper, then compare with `gradient`.

# %%
### BEGIN SOLUTION
slopes_of_quotient = (-0.5, -1.5)
### END SOLUTION
check("1.2", slopes_of_quotient)

# %% [markdown]
# ## The chain rule, with numbers
#
# Now a longer expression, one step per line. Every step has a name.

# %%
a, b, c, f = 2.0, -3.0, 10.0, -2.0

e = a * b
d = e + c
L = d * f
print("e =", e, "  d =", d, "  L =", L)

# %% [markdown]
# For a single step the slopes are easy. We call them **local derivatives**.
#
# | step | local derivatives |
# |---|---|
# | `L = d * f` | for `d` it is `f`, for `f` it is `d` |
# | `d = e + c` | for `e` it is 1, for `c` it is 1 |
# | `e = a * b` | for `a` it is `b`, for `b` it is `a` |
#
# Now push `a` by a small `h` and follow it upwards.
# `e` moves by −3 `h`. So `d` moves by −3 `h` too. So `L` moves by −2 times that, which is 6 `h`.
#
# That is the chain rule: **along a path, the local derivatives multiply.**
#
# **What do you expect** for `c`?

# %%
for_L = 1.0  # L moves with itself
for_d = for_L * f
for_e = for_d * 1.0
for_a = for_e * b
for_c = for_d * 1.0
print("slope for a:", for_a, "  slope for c:", for_c)

# %% [markdown]
# We started at the end, `L`, and went backwards. Each line multiplies what has arrived so far
# (the **upstream** gradient) by one local derivative. The product is a **contribution**.
# Nothing is computed twice: `for_d` serves `e` and `c`.
#
# **Exercise 1.3.** What is the slope of `L` for `b`?

# %%
### BEGIN SOLUTION
for_b = for_e * a
### END SOLUTION
check("1.3", for_b)

# %% [markdown]
# Nudging agrees, up to rounding:

# %%
gradient(lambda a, b, c, f: (a * b + c) * f, a, b, c, f)

# %% [markdown]
# ## An engine from nothing
#
# A machine can do the same if each number remembers two things:
# the numbers it was computed from (its **inputs**), and how to find its local derivatives.
# The second is a small function that is made together with the number. It keeps the numbers it
# needs until somebody calls it. Such a function is called a **closure**.


# %%
class Num:
    """A number that remembers how it was computed."""

    def __init__(self, data, inputs=(), local_derivatives=lambda: ()):
        self.data = data
        self.inputs = inputs
        self.local_derivatives = local_derivatives
        self.grad = 0.0

    def __add__(self, other):
        out = self.data + other.data

        def local_derivatives():
            return 1.0, 1.0

        return Num(out, (self, other), local_derivatives)

    def __mul__(self, other):
        out = self.data * other.data

        def local_derivatives():
            return other.data, self.data

        return Num(out, (self, other), local_derivatives)

    def tanh(self):
        out = math.tanh(self.data)

        def local_derivatives():
            return (1.0 - out * out,)

        return Num(out, (self,), local_derivatives)


# %% [markdown]
# The same expression as before, now with `Num`. Python's `*` and `+` call our methods.

# %%
a, b, c, f = Num(2.0), Num(-3.0), Num(10.0), Num(-2.0)
L = (a * b + c) * f
L.data

# %% [markdown]
# `L` knows its two inputs, and its local derivative for each.
#
# **What do you expect?** Which two numbers does the closure return?

# %%
L.local_derivatives()

# %% [markdown]
# Now the chain rule, in one short function: give each input its contribution, then let the input do
# the same with its own inputs.


# %%
def send_back(node):
    for x, local in zip(node.inputs, node.local_derivatives()):
        x.grad += node.grad * local  # upstream × local = contribution
        send_back(x)


L.grad = 1.0
send_back(L)
print("a:", a.grad, "  b:", b.grad, "  c:", c.grad, "  f:", f.grad)

# %% [markdown]
# The numbers are those from above. Are we done?
#
# ## Where it fails
#
# In the next expression `e` is used twice: once for `p` and once for `q`. The two ways join in `L`.
# Drawn on paper it is a diamond:
#
# ```
#          p = e * a
#        ↗           ↘
# e = a + b            L = p + q
#        ↘           ↗
#          q = e * b
# ```


# %%
def diamond(a, b):
    e = a + b
    p = e * a
    q = e * b
    return p + q


nudged = gradient(diamond, 2.0, 3.0)
print(f"by nudging   a: {nudged[0]:.4f}   b: {nudged[1]:.4f}")

# %% [markdown]
# You can check this on paper: the result is `(a + b)**2`, so both slopes are `2 * (a + b)`.
#
# **What do you expect** from our engine?

# %%
a, b = Num(2.0), Num(3.0)
L = diamond(a, b)
L.grad = 1.0
send_back(L)

print(f"our engine   a: {a.grad:.4f}   b: {b.grad:.4f}")
print(f"by nudging   a: {nudged[0]:.4f}   b: {nudged[1]:.4f}")

# %% [markdown]
# 12 is wrong. No error, no warning, just a wrong number.
#
# Follow `e` to see why. First `p` sends 2 to `e`, and `e` passes 2 on at once.
# Later `q` sends 3. Now `e` holds 2 + 3 = 5, and passes on all 5.
# So the first 2 was passed on twice, and 10 became 12.
#
# Perhaps the `+=` is to blame? Let us try `=`.
#
# **What do you expect?** Too much again, too little, or right?


# %%
def send_back_overwriting(node):
    for x, local in zip(node.inputs, node.local_derivatives()):
        x.grad = node.grad * local  # "=" in place of "+="
        send_back_overwriting(x)


a, b = Num(2.0), Num(3.0)
L = diamond(a, b)
L.grad = 1.0
send_back_overwriting(L)

print(f"with =       a: {a.grad:.4f}   b: {b.grad:.4f}")
print(f"by nudging   a: {nudged[0]:.4f}   b: {nudged[1]:.4f}")

# %% [markdown]
# Wrong again, and this time too little: every contribution erased the one before.
#
# A push on `a` reaches `L` along several paths, and their effects add up. So `+=` was right:
# **along a path we multiply, over the paths we add.** The fault is the *order*.
#
# ## The order that repairs it
#
# `e` may pass its gradient on only when it is complete, that is, when both `p` and `q` have sent
# theirs. So we need a list in which every node comes after its inputs.
# Such a list is a **topological order**. Read from its end, it visits a node only after all the
# nodes that use it.


# %%
def topological_order(output):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for x in node.inputs:
                visit(x)
            order.append(node)  # after its inputs

    visit(output)
    return order


a, b = Num(2.0), Num(3.0)
L = diamond(a, b)
[node.data for node in topological_order(L)]

# %% [markdown]
# The numbers are `a`, `b`, `e`, `p`, `q`, `L`. Each stands there once, although `e` is used twice.
#
# The chain rule stays the same line. Only the walk is new.


# %%
def backward(output):
    output.grad = 1.0
    for node in reversed(topological_order(output)):
        for x, local in zip(node.inputs, node.local_derivatives()):
            x.grad += node.grad * local


backward(L)
print(f"our engine   a: {a.grad:.4f}   b: {b.grad:.4f}")
print(f"by nudging   a: {nudged[0]:.4f}   b: {nudged[1]:.4f}")

# %% [markdown]
# This is backpropagation. It visits every node once, however many inputs there are.
#
# **Exercise 1.4.** Suppose we keep the right order but write `=` instead of `+=` in `backward`.
# The nodes are visited in this order: `L`, `q`, `p`, `e`. Which number is left in `a.grad`?
# Work it out on paper first.

# %%
### BEGIN SOLUTION
a_grad_with_equals = 2.0
### END SOLUTION
check("1.4", a_grad_with_equals)

# %% [markdown]
# There is another way to repair the recursion: pass on only the *new* contribution, path by path.
# It gives the right numbers. But look how many paths there can be:

# %%
x = Num(1.0)
y = x
for _ in range(3):
    y = y + y  # each step has two edges to the one before
y.data

# %% [markdown]
# From `y` to `x` there are two choices at each of the three steps.
#
# **Exercise 1.5.** How many paths are there after 20 such steps?

# %%
### BEGIN SOLUTION
paths = 2**20
### END SOLUTION
check("1.5", paths)

# %% [markdown]
# The topological order needs one visit for each of the 21 nodes, and 40 edges.
#
# **Exercise 1.6.** Give your engine a new operation: `exp`. Return a `Num` with the right number,
# the inputs as a tuple of one, and a closure that returns a tuple of one local derivative.
# `tanh` above shows the form.


# %%
def exp(x):
    ### BEGIN SOLUTION
    out = math.exp(x.data)

    def local_derivatives():
        return (out,)

    return Num(out, (x,), local_derivatives)
    ### END SOLUTION


check("1.6", exp, leaf=Num)

# %% [markdown]
# ## From here to the library
#
# minigrad is this engine, grown up. Here is its own source, as it is installed on your machine.
# First the chain rule. Look for the three lines that you know: `reversed(order)`, one input after
# the other, and the sum `before + contribution`.

# %%
from minigrad import graph

print(inspect.getsource(graph.sweep))

# %% [markdown]
# What differs?
#
# - `yield` hands out every step, so that a picture or a debugger can show it.
# - The gradients of the pass are kept in `cotangents`, apart from the nodes, until it is over.
#   An error in the middle leaves nothing half done.
# - A step may carry no contribution (`None`). Lesson 2 shows when.
#
# The local derivatives stand in a table, one row per operation. This prints three of them:

# %%
from minigrad.ops import core


def print_row(name):
    """Print the statement of the table that defines this operation."""
    source = inspect.getsource(core)
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == name:
            print(ast.get_source_segment(source, statement), end="\n\n")


print_row("add")
print_row("mul")
print_row("tanh")

# %% [markdown]
# Each row gives the forward formula and then a list with one local derivative per input.
# For `add` it is `[1.0, 1.0]`. For `mul` it is `[SECOND, FIRST]`: each input is scaled by the
# other. For `tanh` it is `1.0 - out * out`, just as in `Num`. The rest says how the operation is
# written and explained.
#
# The closure is there too. A node makes it when it is asked:

# %%
print(inspect.getsource(graph.Node.local_derivatives.fget))

# %% [markdown]
# And this is `backward`:

# %%
import minigrad as mg

print(inspect.getsource(mg.Value.backward))

# %% [markdown]
# Its heart is the topological order, then the sweep. `fast.backward` is the same sweep in one tight
# loop, for speed. The library's tests hold the two equal, bit for bit.
# The last line writes the gradients into `.grad`.
#
# ## The same expression in minigrad
#
# **What do you expect** for `a.grad`?

# %%
a = mg.Value(2.0, name="a")
b = mg.Value(3.0, name="b")
e = a + b
p = e * a
q = e * b
L = p + q
L.backward()
a.grad, b.grad

# %% [markdown]
# And its picture: a card for every node, with its value and its gradient. Find the diamond.

# %%
mg.draw(L)

# %% [markdown]
# `mg.explain` writes the chain rule out: all paths from `L` to `a`, the product along each, and the
# sum of them. You find the 2 that was counted twice, the 3 and the 5.

# %%
print(mg.explain(L, a))

# %% [markdown]
# ## What you take with you
#
# - A derivative is the answer to a small push. Nudging finds it, but not exactly and not cheaply.
# - Along a path the local derivatives multiply. Over the paths the contributions add up.
# - A node passes its gradient on only when it is complete. The topological order sees to that.
#
# Go on with lesson 2, *Values and graphs*.
