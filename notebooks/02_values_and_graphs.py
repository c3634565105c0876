# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 2. Values and graphs
#
# Lesson 1 built an engine from nothing. From now on you use minigrad's.
# You write expressions of `Value`s, look at the graph behind them, and read every gradient.
# You see what happens where it gets difficult: a value used twice, a pass run twice, a kink, a
# logarithm of zero. At the end you add an operation of your own and train a neuron.
#
# You should know what an input, a local derivative and a topological order are (lesson 1).
# It takes about 60 minutes. At *What do you expect?* guess first, then run the cell.

# %%
import minigrad as mg

from checks import check

# %% [markdown]
# ## An expression and its graph
#
# A `Value` is a number that remembers how it was computed. The name is for pictures.
#
# **What do you expect?** Compute `L` in your head.

# %%
a = mg.Value(2.0, name="a")
b = mg.Value(-3.0, name="b")
c = mg.Value(10.0, name="c")
f = mg.Value(-2.0, name="f")

e = a * b
d = e + c
L = d * f
print(L)

# %% [markdown]
# `grad=·` says that no gradient is there yet. Not 0, but none.
#
# Here is the graph. Numbers flow from left to right. Each card shows the value of a node and its
# gradient, that is, how far `L` moves if this node is pushed.
#
# **What do you expect** for the gradient of `a`? It is the product of three local derivatives.

# %%
mg.draw(L)

# %% [markdown]
# (A node that stands alone at the end of a cell shows this picture too.)
#
# The picture ran a pass of its own. It did not touch your nodes:

# %%
print(a)

# %% [markdown]
# Only `backward()` writes `.grad`.

# %%
L.backward()
print(a)

# %% [markdown]
# ## What a node knows
#
# The operation that made it, and its inputs, in order:

# %%
print(L.op.name)
L.inputs

# %% [markdown]
# And the closure for its local derivatives. It takes the number of the input, counted from 0.
#
# **What do you expect?** `L` is `d * f`. What is the local derivative for `d`, and for `f`?

# %%
L.local_derivatives(0), L.local_derivatives(1)

# %% [markdown]
# A node without operation is a **leaf**. Here the graph begins.

# %%
print(a.op, a.inputs)

# %% [markdown]
# `mg.explain` follows the push from an input to the output:

# %%
mg.explain(L, a)

# %% [markdown]
# Printed, it also shows the numbers that are multiplied along the path:

# %%
print(mg.explain(L, a))

# %% [markdown]
# **Exercise 2.1.** The gradient of `f` is 4 at the moment. Which number must `c` be, so that it
# becomes 0? (`a` and `b` stay as they are.) You can find it by looking at the picture.

# %%
### BEGIN SOLUTION
c_for_zero = 6.0
### END SOLUTION
check("2.1", c_for_zero)

# %% [markdown]
# ## A neuron
#
# A neuron multiplies its inputs by weights, adds a bias, and squashes the sum with `tanh`.
# The odd bias makes the gradients come out round.

# %%
x1, x2 = mg.Value(2.0, name="x1"), mg.Value(0.0, name="x2")
w1, w2 = mg.Value(-3.0, name="w1"), mg.Value(1.0, name="w2")
bias = mg.Value(6.8813735870195432, name="bias")


def neuron():
    n = x1 * w1 + x2 * w2 + bias
    return mg.tanh(n)


o = neuron()
print(o)

# %% [markdown]
# **What do you expect?** One of the two weights gets the gradient 0. Which one, and why?

# %%
mg.draw(o)

# %% [markdown]
# `w2` is multiplied by `x2`, and `x2` is 0. Pushing `w2` moves nothing.
#
# Is the picture right? Never believe a gradient that you have not nudged.
# This pushes each leaf to both sides and puts the slope beside the gradient.


# %%
def nudge(compute, leaf, h=1e-5):
    """The slope of compute() for this leaf, by a push to both sides."""
    middle = leaf.data
    leaf.data = middle + h
    up = compute().data
    leaf.data = middle - h
    down = compute().data
    leaf.data = middle
    return (up - down) / (2 * h)


o = neuron()
o.backward()
print("leaf    gradient     nudged")
for leaf in (x1, x2, w1, w2, bias):
    print(f"{leaf.name:5} {leaf.grad:10.6f} {nudge(neuron, leaf):10.6f}")

# %% [markdown]
# ## Topological order
#
# `backward()` walks over this list from its end. Inputs come before the nodes that use them.
#
# **What do you expect?** Which node comes last?

# %%
for node in mg.topological_order(o):
    print(node.name or node.op.name, node.data)

# %% [markdown]
# Many orders are right for one graph: it does not matter whether `w1` or `w2` comes first.
# What matters is that a node never comes before one of its inputs.
#
# **Exercise 2.2.** Write a function that says whether a list of nodes is in topological order.
# It gets the list and returns `True` or `False`. A node has `.inputs`.


# %%
def is_topological(order):
    ### BEGIN SOLUTION
    seen = set()
    for node in order:
        for x in node.inputs:
            if x not in seen:
                return False
        seen.add(node)
    return True
    ### END SOLUTION


check("2.2", is_topological)

# %% [markdown]
# ## Contributions add up
#
# In the next expression `x` is used three times: twice by the product, once by the sum.
#
# **What do you expect** for the gradient of `x`?

# %%
x = mg.Value(3.0, name="x")
y = x * x + x
print(y)

# %% [markdown]
# Each edge shows what it sends back. Two edges run from `x` to the product: it has `x` as its first
# and as its second input.

# %%
mg.draw(y, show=("value", "gradient", "contribution"))

# %% [markdown]
# Three edges bring 3, 3 and 1. The product together brings 6, the sum brings 1, and they add up.

# %%
mg.explain(y, x)

# %% [markdown]
# **Exercise 2.3.** Take `y = x * x * x + 2.0 * x` at `x = 2`.
# How many edges bring a contribution to `x`, and what is its gradient? Give the two numbers.

# %%
### BEGIN SOLUTION
edges_and_gradient = (4, 14.0)
### END SOLUTION
check("2.3", edges_and_gradient)

# %% [markdown]
# ## Backward twice
#
# Gradients add up within one pass. They also add up over passes.
#
# **What do you expect** after the second `backward()`?

# %%
x = mg.Value(3.0, name="x")
y = x * x
y.backward()
print("after one pass  ", x.grad)
y.backward()
print("after two passes", x.grad)

# %% [markdown]
# A leaf keeps the sum of all passes. That is useful when a loss comes in parts: run `backward()` on
# each part. When you want a fresh start, say so:

# %%
x.zero_grad()
print(x)
y.backward()
print(x)

# %% [markdown]
# Forgetting `zero_grad()` is the most common mistake in training loops.
# Nodes between the leaves and the output do not add up over passes. They show the last pass.
#
# ## Kinks
#
# `relu(x)` is 0 up to 0, and `x` from there on. At 0 it has a kink: the slope is 0 on the left and
# 1 on the right. The engine has to choose one of them.
#
# **What do you expect?**

# %%
x = mg.Value(0.0, name="x")
y = mg.relu(x)
mg.explain(y, x)

# %% [markdown]
# The slope at a kink is a convention, and the explanation says so. For `relu` it is the slope on
# the left. `abs` has −1 on the left and 1 on the right.
#
# **What do you expect** for `abs` at 0? What does a nudge to both sides find?

# %%
y = mg.abs(x)
y.backward()
print("gradient", x.grad)
print("nudged  ", nudge(lambda: mg.abs(x), x))

# %% [markdown]
# Now try the nudge on `relu`. It finds the middle, 0.5, which is the slope on neither side.
# Near a kink a nudge cannot judge.

# %%
nudge(lambda: mg.relu(x), x)

# %% [markdown]
# ## Out of range
#
# The logarithm of 0 is minus infinity. The engine computes on, and warns you. The warning names
# the operation and its input.

# %%
zero = mg.Value(0.0, name="zero")
print(mg.log(zero))

# %% [markdown]
# In a long program you may prefer an error, because it stops where the trouble begins:

# %%
try:
    with mg.errstate("raise"):
        mg.log(zero)
except ArithmeticError as error:
    print(type(error).__name__, "-", error)

# %% [markdown]
# Or you know what you do, and want silence: `mg.errstate("ignore")`.
#
# A common wish is "the logarithm, but 0 where it does not exist". Multiplying by 0 looks like
# a way.
#
# **What do you expect** from 0 times minus infinity?

# %%
with mg.errstate("ignore"):
    y = mg.less(0.0, zero) * mg.log(zero)
    y.backward()
print("value", y.data, "  gradient", zero.grad)

# %% [markdown]
# `nan` means "not a number", and it spreads to everything it touches.
# `where` does better. It takes one branch, and sends *nothing* back to the other.

# %%
with mg.errstate("ignore"):
    y = mg.where(zero > 0.0, mg.log(zero), 0.0)
mg.explain(y, zero)

# %% [markdown]
# In the picture a dashed edge carries no gradient. Here all four are dashed: a condition and
# a constant get none, the logarithm is the branch not taken, and so nothing goes on to `zero`.
# Its infinite slope harms nobody.

# %%
mg.draw(y)

# %% [markdown]
# **Exercise 2.4.** The slope of `sqrt` at 0 is infinite. Write a square root that is 0 for
# `x <= 0`, with gradient 0 there.


# %%
def safe_sqrt(x):
    ### BEGIN SOLUTION
    return mg.where(x > 0.0, mg.sqrt(x), 0.0)
    ### END SOLUTION


with mg.errstate("ignore"):
    check("2.4", safe_sqrt, leaf=mg.Value)

# %% [markdown]
# ## An operation of your own
#
# An operation is one row: a name, the formula, and one local derivative per input.
# This is *softsign*. Like `tanh` it squashes every number into (−1, 1), but more gently.
# In the formula `m` holds the functions for the kind of number at hand.
# The derivative gets `out` (the result) and `x`.

# %%
softsign = mg.operation(
    "softsign",
    lambda m, x: x / (1.0 + m.abs(x)),
    [lambda out, x: 1.0 / mg.square(1.0 + mg.abs(x))],
)

# %% [markdown]
# That was all. It works on numbers and on nodes, in pictures and explanations.

# %%
x = mg.Value(0.5, name="x")
y = softsign(x * 2.0)
mg.draw(y)

# %% [markdown]
# Nudge it. Do this for every operation that you write.

# %%
y.backward()
print("gradient", x.grad)
print("nudged  ", nudge(lambda: softsign(x * 2.0), x))

# %% [markdown]
# Your derivative is made of the library's operations, so it has a derivative itself.
# With `create_graph=True` the gradient is a node, with a graph of its own.
#
# **What do you expect?** Softsign flattens for large `x`. Is the second derivative at 0.5 positive
# or negative?

# %%
x = mg.Value(0.5, name="x")
y = softsign(x)
y.backward(create_graph=True)
first = x.grad

x.zero_grad()
first.backward()
print("first derivative ", first.data)
print("second derivative", x.grad)

# %% [markdown]
# On paper the second derivative is `-2 / (1 + x)**3` for positive `x`. At 0.5 it is −0.5926.
#
# **Exercise 2.5.** Make the operation `bump`: `exp(-x * x)`, a hill with its top at 0.
# For its derivative remember the chain rule. The result itself is at hand as `out`.

# %%
### BEGIN SOLUTION
bump = mg.operation("bump", lambda m, x: m.exp(-x * x), [lambda out, x: -2.0 * x * out])
### END SOLUTION
check("2.5", bump, library=mg)

# %% [markdown]
# ## Train a neuron
#
# Four points and what the neuron should say: 1 if both inputs are 1, and −1 otherwise.

# %%
points = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
wanted = [-1.0, -1.0, -1.0, 1.0]

w1 = mg.Value(0.1, name="w1")
w2 = mg.Value(-0.2, name="w2")
bias = mg.Value(0.0, name="bias")
leaves = [w1, w2, bias]

# %% [markdown]
# The **loss** is one number that says how wrong the neuron is: the sum of the squared errors.


# %%
def loss():
    total = 0.0
    for (p1, p2), target in zip(points, wanted):
        answer = mg.tanh(w1 * p1 + w2 * p2 + bias)
        miss = answer - target
        total = total + miss**2
    return total


print(loss())

# %% [markdown]
# Its graph has more than 50 nodes. All four points use the same three leaves. The picture shows the
# way of the last point. One card holds the first three points and their sum, another the products
# of the last point with its weights.

# %%
mg.draw(loss(), max_nodes=20)

# %% [markdown]
# A gradient points to where the loss grows. So we take a small step the other way, many times.
#
# **What do you expect** if `zero_grad()` were missing?

# %%
learning_rate = 0.1
for step in range(201):
    for leaf in leaves:
        leaf.zero_grad()
    total = loss()
    total.backward()
    if step % 40 == 0:
        print(f"step {step:3}   loss {total.data:.4f}")
    for leaf in leaves:
        leaf.data -= learning_rate * leaf.grad

# %% [markdown]
# Has it learned the four points?

# %%
for (p1, p2), target in zip(points, wanted):
    answer = mg.tanh(w1 * p1 + w2 * p2 + bias)
    print(p1, p2, "  wanted", target, "  got", round(answer.data, 2))

# %% [markdown]
# **Exercise 2.6.** Write one step of training as a function. It moves every leaf a little against
# its gradient, and clears the gradient, ready for the next pass.


# %%
def take_step(leaves, learning_rate):
    ### BEGIN SOLUTION
    for leaf in leaves:
        leaf.data -= learning_rate * leaf.grad
        leaf.zero_grad()
    ### END SOLUTION


check("2.6", take_step)

# %% [markdown]
# ## What you take with you
#
# - A node knows its operation, its inputs and its local derivatives. The graph is nothing else.
# - Contributions add up, within a pass and over passes. `zero_grad()` starts afresh.
# - At a kink the slope is a convention. `where` sends nothing to the branch not taken.
# - A new operation is a formula and its local derivatives. Nudge it before you trust it.
#
# Go on with lesson 3, `03_from_scalars_to_arrays`.
