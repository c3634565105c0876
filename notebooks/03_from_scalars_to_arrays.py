# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 3. From scalars to arrays
#
# In lesson 2 every number was a node. A network has thousands of numbers, and so many nodes are
# slow. Here one node holds a whole array. The chain rule stays what it was.
# You build one layer both ways and compare. Then you meet the two things that are new with
# arrays: broadcasting and shapes.
#
# You should know what a leaf, a contribution and a topological order are (lessons 1 and 2),
# and have seen a NumPy array. It takes about 60 minutes.
# At *What do you expect?* guess first, then run the cell.

# %%
import random
import time

import minigrad as mg
import numpy as np
from minigrad.errors import ShapeError

from checks import check

# %% [markdown]
# ## A layer, number by number
#
# A **layer** is a row of neurons that see the same inputs. Ours has 64 neurons, and each of them
# has 16 weights and a bias. It is given 32 examples.
#
# First the plain numbers.

# %%
examples, inputs, neurons = 32, 16, 64

rng = random.Random(1)
xs = [[rng.gauss(0.0, 1.0) for _ in range(inputs)] for _ in range(examples)]
weights = [[rng.gauss(0.0, 0.25) for _ in range(neurons)] for _ in range(inputs)]
biases = [0.1] * neurons

# %% [markdown]
# Now the neuron of lesson 2, 64 of them, for each of the 32 examples. `w[i][j]` is the weight from
# input `i` to neuron `j`. At the end stands one number, so that there is an output to
# differentiate.

# %%
w = [[mg.Value(number) for number in row] for row in weights]
b = [mg.Value(number) for number in biases]


def layer_of_values():
    outputs = []
    for x in xs:
        for j in range(neurons):
            total = b[j]
            for i in range(inputs):
                total = total + x[i] * w[i][j]
            outputs.append(mg.tanh(total))
    return mg.sum([y * y for y in outputs])


start = time.perf_counter()
loss_of_values = layer_of_values()
loss_of_values.backward()
seconds_values = time.perf_counter() - start
print(loss_of_values.data)

# %% [markdown]
# **What do you expect?** How many nodes has this graph? Guess the number of digits.

# %%
nodes_of_values = len(mg.topological_order(loss_of_values))
print(nodes_of_values, "nodes")

# %% [markdown]
# **Exercise 3.1.** Most of them are products and sums. How many products `x[i] * w[i][j]` are
# there?

# %%
### BEGIN SOLUTION
products = 32 * 64 * 16
### END SOLUTION
check("3.1", products)

# %% [markdown]
# ## The same layer with arrays
#
# A `Tensor` is a node that holds an array. All products and sums of the three loops are one
# operation, the matrix product `@`.

# %%
X = np.array(xs)
W = mg.Tensor(weights, name="W")
B = mg.Tensor(biases, name="B")


def layer_of_arrays():
    y = mg.tanh(X @ W + B)
    return mg.sum(y * y)


start = time.perf_counter()
loss_of_arrays = layer_of_arrays()
loss_of_arrays.backward()
seconds_arrays = time.perf_counter() - start
print(loss_of_arrays.data)

# %% [markdown]
# **What do you expect?** How many nodes are there now? (`X` is plain NumPy, a constant. Constants
# are no nodes.)

# %%
for node in mg.topological_order(loss_of_arrays):
    print(f"{node.name or node.op.name:10} {node.shape}")

# %% [markdown]
# Seven. Here is their picture. A card shows the shape of an array, and from where to where its
# numbers go. The pill `[32×16]` is none of the seven: it is the constant `X`, shown by its shape.
# It has no gradient, so its edge is dashed.

# %%
mg.draw(loss_of_arrays)

# %% [markdown]
# Are the gradients the same? The scalar ones stand in 1024 leaves, the others in one array.
#
# **What do you expect?** Equal to the last digit, or nearly?

# %%
grads_of_values = np.array([[node.grad for node in row] for row in w])
print("shapes           ", grads_of_values.shape, W.grad.shape)
print("largest gradient ", np.abs(W.grad).max())
print("largest deviation", np.abs(W.grad - grads_of_values).max())

# %% [markdown]
# Equal up to rounding. NumPy adds the numbers of a sum in another order.
#
# It is also the same engine. The operation on the node is the very same row of the table:

# %%
print(mg.tanh(mg.Value(0.5)).op is mg.tanh(mg.Tensor([0.5, 1.0])).op)

# %% [markdown]
# Only the numbers inside are arrays. And that pays. (The ratio differs from machine to machine.)

# %%
print(f"values {1000 * seconds_values:8.2f} ms")
print(f"arrays {1000 * seconds_arrays:8.2f} ms")
print(f"ratio  {seconds_values / seconds_arrays:8.0f}")

# %% [markdown]
# ## Broadcasting
#
# `X @ W` has shape (32, 64) and `B` has shape (64,). Still they can be added: NumPy repeats `B` for
# every row. That is **broadcasting**. The rule:
#
# 1. Write the shapes one below the other, flushed right.
# 2. Two lengths fit if they are equal, or if one of them is 1 or missing.
# 3. The result has the larger length.
#
# ```
# X @ W     32  64
# B             64
# sum       32  64
# ```
#
# **What do you expect** for the four sums below? One of them fails.

# %%
for one, other in [((2, 3), (3,)), ((2, 3), (2, 1)), ((2, 1), (1, 3)), ((2, 3), (2,))]:
    try:
        print(one, "+", other, "gives", (mg.Tensor(np.ones(one)) + np.ones(other)).shape)
    except ShapeError:
        print(one, "+", other, "does not fit")

# %% [markdown]
# In the last one 3 stands above 2. It does not help that 2 and 2 would fit on the left.
#
# **Exercise 3.2.** What is the shape of the sum of an array of shape (4, 1) and one of shape (3,)?
# Answer with a tuple.

# %%
### BEGIN SOLUTION
shape_of_sum = (4, 3)
### END SOLUTION
check("3.2", shape_of_sum)

# %% [markdown]
# ## Why gradients sum over broadcast axes
#
# Here `c` is added to both rows of a matrix, and each place of the result is weighted, so that
# the places can be told apart.

# %%
c = mg.Tensor([0.0, 0.0, 0.0], name="c")
matrix = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
place = np.array([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])

y = matrix + c
L = mg.sum(y * place)
print("y has shape", y.shape)

# %% [markdown]
# The upstream gradient of `y` is `place`: six numbers. But `c` has three.
#
# **What do you expect?** First the shape of `c.grad`. Then its numbers.

# %%
L.backward()
c.grad

# %% [markdown]
# Nothing new has happened. The first number of `c` is used twice, once in each row. It gets two
# contributions, 1 and 2, and **contributions add up**.
#
# So each axis along which a number was repeated is an axis along which its gradient is summed.
# To see it, let us write the repetition out with `Value`s:

# %%
c0 = mg.Value(0.0, name="c0")
first_row = (1.0 + c0) * 1.0
second_row = (4.0 + c0) * 2.0
mg.draw(first_row + second_row, show=("value", "gradient", "contribution"))

# %% [markdown]
# The gradient of a leaf always has the shape of the leaf. That is the first thing to check.
#
# With a column it is the other axis.
#
# **What do you expect** for the gradient of a column of shape (2, 1)?

# %%
column = mg.Tensor([[0.0], [0.0]], name="column")
mg.sum((matrix + column) * place).backward()
column.grad

# %% [markdown]
# **Exercise 3.3.** Write the function that undoes broadcasting. It gets the upstream gradient (a
# NumPy array) and the shape that the input had, and returns the gradient of the input.
# First sum over the axes that are missing in `shape`, on the left. Then sum over those that have
# length 1, with `keepdims=True`.


# %%
def undo_broadcast(gradient, shape):
    ### BEGIN SOLUTION
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, length in enumerate(shape):
        if length == 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient
    ### END SOLUTION


check("3.3", undo_broadcast, array=np.array)

# %% [markdown]
# ## The gradient of a matrix product, by shapes
#
# `Y = P @ Q`. The shapes must fit in the middle: (2, 3) @ (3, 4) gives (2, 4).

# %%
P = mg.Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], name="P")
Q = mg.Tensor(np.arange(12.0).reshape(3, 4), name="Q")
Y = P @ Q
upstream = np.array([[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 0.0]])
print(P.shape, "@", Q.shape, "gives", Y.shape)

# %% [markdown]
# You need not remember the formula. The gradient of `P` is made of the upstream gradient and `Q`,
# as in every product: each input is scaled by the other. And it has the shape of `P`.
#
# ```
# upstream   2 4
# Q          3 4
# wanted     2 3
# ```
#
# **What do you expect?** Only one way of turning and multiplying them fits.

# %%
Y.backward(upstream)  # Y is no single number, so we say what arrives
print("engine\n", P.grad)
print("upstream @ Q.T\n", upstream @ Q.data.T)

# %% [markdown]
# The 4 had to go, so it stands in the middle and is summed over: the gradient of `P` is
# `upstream @ Q.T`.
#
# Never believe a gradient that you have not nudged. This pushes the number in row 0, column 1:

# %%
h = 1e-5
push = np.zeros((2, 3))
push[0, 1] = h
up = ((P.data + push) @ Q.data * upstream).sum()
down = ((P.data - push) @ Q.data * upstream).sum()
print("gradient", P.grad[0, 1], "  nudged", round((up - down) / (2 * h), 6))

# %% [markdown]
# **Exercise 3.4.** Now the other one. Write the gradient of `Q` for `Y = P @ Q`. The function gets
# `P` and the upstream gradient, as NumPy arrays.


# %%
def gradient_of_Q(P, upstream):
    ### BEGIN SOLUTION
    return P.T @ upstream
    ### END SOLUTION


check("3.4", gradient_of_Q, array=np.array)

# %% [markdown]
# ## Read an error message
#
# Most mistakes with arrays are mistakes of shape, and most of them stop at once. Such a message
# has three parts: what was tried, where it does not fit, and what would.
#
# Here every row of `x` should be scaled by its own factor.

# %%
x = mg.Tensor([[1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0], [0.0, 2.0, 0.0, 2.0]], name="x")
factor = mg.Tensor([1.0, 10.0, 100.0], name="factor")
try:
    x * factor
except ShapeError as error:
    print(error)

# %% [markdown]
# The message proposes an axis of length 1 at the end. Do we want that? We do: one factor per row
# is a column.

# %%
print(x * factor[..., None])

# %% [markdown]
# Think before you follow such a proposal. It makes the shapes fit; only you know what is meant.
#
# Worse is a mistake that does not stop. Four predictions in a column, four targets in a row:

# %%
predictions = mg.Tensor([[1.0], [2.0], [3.0], [4.0]], name="predictions")
targets = np.array([1.0, 2.0, 3.0, 4.0])

# %% [markdown]
# Every prediction is right.
#
# **What do you expect** for the mean of the squared errors?

# %%
miss = predictions - targets
print("mean of squares", mg.mean(miss**2).data, "  shape", miss.shape)

# %% [markdown]
# Not 0: broadcasting has compared every prediction with every target, 16 pairs.
# Print shapes when a number looks odd. The losses of the library refuse this:

# %%
try:
    mg.mse_loss(predictions, targets)
except ShapeError as error:
    print(error)

# %%
print(mg.mse_loss(predictions[:, 0], targets).data)

# %% [markdown]
# **Exercise 3.5.** This function should take the mean of each row away from that row:
# `x - mg.mean(x, axis=1)`. For an `x` of shape (2, 3) it stops with an error. For a square `x` it
# does not stop, and is wrong. Write it so that it is right for both. (`mg.mean` knows `keepdims`.)


# %%
def centred(x):
    ### BEGIN SOLUTION
    return x - mg.mean(x, axis=1, keepdims=True)
    ### END SOLUTION


check("3.5", centred, leaf=mg.Tensor)

# %% [markdown]
# ## Between the two worlds
#
# `stack_values` makes one array of many `Value`s. It is an operation like any other, so gradients
# find their way back.
#
# **What do you expect** for the gradient of `a`? It stands in the array twice.

# %%
a, b = mg.Value(1.0, name="a"), mg.Value(2.0, name="b")
pair = mg.stack_values([[a, b], [b, a]])
mg.sum(pair * pair).backward()
print(pair.data)
print("a:", a.grad, "  b:", b.grad)

# %% [markdown]
# `to_values` goes the other way: an array is opened into `Value`s.

# %%
t = mg.Tensor([2.0, 3.0, 5.0], name="t")
first, second, third = mg.to_values(t)
(first * second).backward()
t.grad

# %% [markdown]
# And `expand` opens an *operation* into the scalar nodes that it stands for. A small layer:

# %%
v = mg.Tensor([2.0, 0.0], name="v")
M = mg.Tensor([[-3.0, 1.0], [1.0, 2.0]], name="M")
out = v @ M
opened = mg.expand(out)
print(out)
print(opened)

# %% [markdown]
# The two numbers are two nodes now, each the dot product of `v` and a column of `M`. A dot product
# can be opened too, down to the products and sums of lesson 2. Here is the first number:

# %%
mg.draw(mg.expand(opened[0]))

# %% [markdown]
# The operation `element` is new: it takes one number out of an array. Its local derivative is 1 for
# that number and 0 for all others. So the leaves are still `v` and `M`, and each `element` brings
# its gradient back to its place in the array.
#
# **What do you expect?** The gradient of `M` for the first number: which column of it is 0?

# %%
opened[0].backward()
print("opened:", v.grad, M.grad.tolist())
v.zero_grad()
M.zero_grad()
out.backward(np.array([1.0, 0.0]))
print("array: ", v.grad, M.grad.tolist())

# %% [markdown]
# `mg.explain` tells how a gradient came about, operation by operation: what arrives from above
# (*upstream*), and what each operation makes of it. The last line is your rule of shapes: for a
# `P` of one row, `P.T @ upstream` is each number of `P` times each of upstream, which is called
# `outer(v, upstream)`.

# %%
loss = mg.tanh(v @ M).sum()
print(mg.explain(loss, M))

# %% [markdown]
# ## What you take with you
#
# - An array node is many scalar nodes at once. The rules of lessons 1 and 2 hold unchanged.
# - A gradient has the shape of its node. Where broadcasting repeats, the gradient sums.
# - The gradient of a matrix product follows from the shapes.
# - Read the shapes in an error. Print them when there is no error, and the number is odd.
#
# Go on with lesson 4, *Training a network*.
