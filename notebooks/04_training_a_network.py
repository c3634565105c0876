# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 4. Training a network
#
# The engine is ready, so let us train something. You write the training loop, look at the
# gradients that flow through the layers, and break the training in all the usual ways: a wrong
# learning rate, a bad start, too few examples. Each of them leaves traces that you can read.
#
# You should know what a `Tensor` and its shape are (lesson 3) and why `zero_grad()` is needed
# (lesson 2). It takes about 70 minutes. At *What do you expect?* guess first, then run the cell.

# %%
import math
import tempfile
from pathlib import Path

import minigrad as mg
import numpy as np
from minigrad.errors import ArgumentValueError, MissingDependencyError

from checks import check

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None
    print("matplotlib is not installed, so this lesson shows numbers without plots.")

# %% [markdown]
# Two helpers for looking. They print numbers, and plot them where matplotlib is installed.


# %%
def show_curves(title, **curves):
    """Print each curve at some epochs, from the first to the last, and plot all of them."""
    last = max(map(len, curves.values()))
    epochs = sorted({1 + round((last - 1) * part / 6) for part in range(7)})
    print(f"{title + ', epoch':>15}", *(f"{epoch:8}" for epoch in epochs))
    for name, numbers in curves.items():
        shown = (f"{numbers[epoch - 1]:8.3f}" for epoch in epochs if epoch <= len(numbers))
        print(f"{name:>15}", *shown)
    if plt:
        _, axes = plt.subplots(figsize=(6, 3))
        for name, numbers in curves.items():
            axes.plot(range(1, len(numbers) + 1), numbers, label=name)
        axes.set(xlabel="epoch", ylabel=title, yscale="log")
        axes.legend()


def show_bars(title, numbers):
    """Print one number for each layer, and draw them as bars."""
    print(f"{title:>22}", *(f"{number:9.1e}" for number in numbers))
    if plt:
        _, axes = plt.subplots(figsize=(6, 2))
        axes.bar(range(len(numbers)), numbers)
        axes.set(xlabel="layer", ylabel=title, yscale="log", xticks=range(len(numbers)))
        axes.set_ylim(min(numbers) / 30, max(numbers) * 30)  # equal bars look equal


# %% [markdown]
# ## The data
#
# Two half moons that reach into each other, with noise. A point is two numbers, its label 0 or 1.
# The network shall find the label.
#
# Half of the points are kept aside. The network never learns from them. They tell us what it does
# with points that it has not seen: they are for **validation**.

# %%
points, labels = mg.data.moons(400, noise=0.25, seed=1, as_array=True)
x_train, x_valid, y_train, y_valid = mg.data.split(points, labels, test=0.5, stratify=True, seed=1)
print("train", x_train.shape, y_train.shape, "  validation", x_valid.shape, y_valid.shape)
print("each class in train", np.bincount(y_train))
for point, label in zip(x_train[6:9], y_train[6:9]):
    print(point, "has label", label)

# %%
if plt:
    _, axes = plt.subplots(figsize=(5, 3))
    axes.scatter(x_train[:, 0], x_train[:, 1], c=y_train, s=12)
    axes.set(xlabel="first number", ylabel="second number")

# %% [markdown]
# ## The network
#
# `MLP` stands for *multilayer perceptron*: layers of neurons, one after the other. This one takes
# two numbers, has two hidden layers of 16 neurons, and gives one number.
#
# **What do you expect?** Which shapes do the weights of the three layers have?

# %%
model = mg.nn.MLP(2, [16, 16], 1, activation="tanh", rng=1)
for name, parameter in model.named_parameters():
    print(f"{name:15} {parameter.shape}")

# %% [markdown]
# **Exercise 4.1.** For handwritten digits we take 64 inputs, one hidden layer of 32 neurons, and 10
# outputs: `MLP(64, [32], 10)`. How many numbers does it learn, weights and biases together?

# %%
### BEGIN SOLUTION
learned = 64 * 32 + 32 + 32 * 10 + 10
### END SOLUTION
check("4.1", learned)

# %% [markdown]
# ## The loss
#
# What comes out is a **logit**: a number that is large if the network believes in label 1, and
# very negative if it believes in label 0. The sigmoid turns it into a probability. The loss is
# `-log` of the probability that the right label got, averaged over the points.
# `mg.bce_with_logits` does all of it in one stable step.
#
# **What do you expect?** A network that does not know anything says ½ for every point.
# What is its loss?

# %%
print("says ½ everywhere", -math.log(0.5))
loss = mg.bce_with_logits(model(x_train)[:, 0], y_train)
print("before training  ", loss.data)

# %% [markdown]
# Ours is worse than ½ everywhere: its random weights are sometimes sure, and wrong.
#
# (`[:, 0]` takes the one column, so that (200, 1) becomes (200,). Lesson 3 has shown why.)
#
# **Exercise 4.2.** With ten classes, a network gives every class the same probability. What is its
# loss? This is the number you should see before training. If you see 30, something is broken.

# %%
### BEGIN SOLUTION
loss_of_ignorance = math.log(10)
### END SOLUTION
check("4.2", loss_of_ignorance)

# %% [markdown]
# Here is the graph of our loss. 200 points, three layers, 15 cards. Find the three weights.

# %%
mg.draw(loss)

# %% [markdown]
# ## The training loop
#
# The same five lines as for the neuron in lesson 2. The optimizer does the step:
# `SGD` subtracts the learning rate times the gradient.
#
# **What do you expect?** Does the loss fall evenly?

# %%
optimizer = mg.optim.SGD(learning_rate=0.5, params=model)
for step in range(401):
    model.zero_grad()
    loss = mg.bce_with_logits(model(x_train)[:, 0], y_train)
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step:3}   loss {loss.data:.4f}")

# %% [markdown]
# First it falls fast: a straight line between the moons is found soon. Then almost nothing happens
# for a hundred steps, until the line begins to bend. A flat curve is not always the end. Late in
# the run the loss does not fall any more, it goes up and down: the step is rather long for that
# place.
#
# How many points of each set are on the right side? A logit above 0 means label 1.


# %%
def accuracy(model, x, y):
    with mg.no_grad():
        return float(((model(x).data[:, 0] > 0) == y).mean())


print("train     ", accuracy(model, x_train, y_train))
print("validation", accuracy(model, x_valid, y_valid))

# %% [markdown]
# `mg.fit` is this loop, with two more things. It takes the points in **batches** of 32, so it makes
# several steps in each pass over the data (an **epoch**). And it writes a history.

# %%
model = mg.nn.MLP(2, [16, 16], 1, activation="tanh", rng=1)
history = mg.fit(
    model,
    (x_train, y_train),
    loss="bce",
    optimizer=mg.optim.SGD(0.5),
    epochs=60,
    validation=(x_valid, y_valid),
    seed=1,
)

# %%
show_curves("loss", training=history.loss, validation=history.validation_loss)

# %% [markdown]
# The curves are not smooth: a step that suits one batch need not suit the other points.
#
# ## The learning rate
#
# Three runs, equal in all but the learning rate.
#
# **What do you expect** of 0.01, of 1, and of 20?


# %%
def run_with(learning_rate):
    model = mg.nn.MLP(2, [16, 16], 1, activation="tanh", rng=1)
    optimizer = mg.optim.SGD(learning_rate)
    data = (x_train, y_train)
    return mg.fit(model, data, "bce", optimizer, epochs=30, seed=1, progress=False)


runs = {f"rate {rate}": run_with(rate).loss for rate in (0.01, 1.0, 20.0)}
show_curves("loss", **runs)

# %% [markdown]
# - 0.01 is too small. It moves the right way, but does not arrive.
# - 1 is about right.
# - 20 is too large. Each step jumps over the valley and lands somewhere else on its slopes. The
#   loss goes up and down, and stays far above the 0.69 of a network that knows nothing.
#
# Why does a large step do harm? A gradient tells where the loss falls *here*. Take one weight and
# the loss 2 · w². Its gradient is 4 · w, so a step is `w - learning_rate * 4 * w`.

# %%
for learning_rate in (0.1, 0.3, 0.6):
    w, path = 1.0, []
    for _ in range(6):
        path.append(f"{w:7.3f}")
        w = w - learning_rate * 4 * w
    print(learning_rate, *path)

# %% [markdown]
# 0.1 walks down. 0.3 jumps over the valley, but each time lands lower. With 0.6 it lands higher
# each time, because the slope grows with `w`.
#
# (The loss of our network did not grow like this. Where `tanh` has saturated and the loss is a
# straight line, the slope grows no more, and so the jumps do not grow either.)
#
# **Exercise 4.3.** Somewhere between 0.3 and 0.6 is the learning rate at which `w` jumps to and
# fro and gets neither smaller nor larger. Which one is it?

# %%
### BEGIN SOLUTION
border = 0.5
### END SOLUTION
check("4.3", border)

# %% [markdown]
# ## Gradients that flow through layers
#
# How much gradient arrives at each layer? We measure its length: the root of the sum of squares.
# Here it is for the network that we trained.


# %%
def gradient_lengths(model):
    """The length of the gradient of each layer's weights, for all training points."""
    model.zero_grad()
    mg.bce_with_logits(model(x_train)[:, 0], y_train).backward()
    return [float(np.linalg.norm(layer.weight.grad)) for layer in model.layers]


show_bars("length of gradient", gradient_lengths(model))

# %% [markdown]
# The longest is about six times the shortest, and all are some hundredths. That is healthy: no
# layer stands still, and none is thrown about. Keep these sizes in mind.
#
# ## The start
#
# Now a deeper network: six hidden layers of 64 neurons with `relu`. The only thing that we vary is
# how large its random weights are at the start. `std` is their standard deviation.


# %%
def deep(std):
    return mg.nn.MLP(2, [64] * 6, 1, init=mg.nn.normal(std=std), rng=1)


def signal(model):
    """How large the numbers are that come out of each hidden layer."""
    x, sizes = x_train, []
    with mg.no_grad():
        for layer in model.layers[:-1]:
            x = mg.relu(layer(x))
            sizes.append(float(np.std(x.data)))
    return sizes


# %% [markdown]
# Too small: `std` is 0.02.
#
# **What do you expect?** The signal goes from layer 0 to 5. Which way does it change?

# %%
show_bars("signal", signal(deep(0.02)))

# %% [markdown]
# Each layer makes it seven to ten times smaller. And the gradient comes back through the same
# weights: by the chain rule each layer multiplies it by small numbers again.
#
# **What do you expect** for its length? 1, a thousandth, less?

# %%
show_bars("length of gradient", gradient_lengths(deep(0.02)))

# %% [markdown]
# Less than a millionth, everywhere. That is a **vanishing gradient**. With such steps no layer
# moves.
#
# Why is it equally short in all layers? The gradient of a weight is its input times what arrives
# from upstream. The last layers get a tiny input. The first ones get a good input, but upstream has
# come through all the other layers.
#
# Too large: `std` is 1.

# %%
show_bars("signal", signal(deep(1.0)))
show_bars("length of gradient", gradient_lengths(deep(1.0)))

# %% [markdown]
# Here each layer multiplies by about 6. That is an **exploding gradient**. The first step would
# throw the weights far away.
#
# Right: `relu` lets half of the signal through, so the rule is the root of 2 / 64.
# (It is called `"he_normal"`, and `MLP` takes it by itself in front of `relu`.)

# %%
right_std = math.sqrt(2 / 64)
show_bars("signal", signal(deep(right_std)))
show_bars("length of gradient", gradient_lengths(deep(right_std)))

# %% [markdown]
# The signal and the gradient keep their size through all layers. Now let us train all three.
#
# **What do you expect** of each? (`ignore` keeps the warning quiet that the last one deserves.)

# %%
for name, std in [("too small", 0.02), ("right", right_std), ("too large", 1.0)]:
    with mg.errstate("ignore"):
        data, optimizer = (x_train, y_train), mg.optim.SGD(0.1)
        run = mg.fit(deep(std), data, "bce", optimizer, epochs=20, seed=1, progress=False)
    print(f"{name:10} {run.stopped:16}", *(f"{number:.4f}" for number in run.loss[::4]))

# %% [markdown]
# The first stays at 0.693: it says ½ for every point, for ever. The last is thrown out of the
# range of numbers at once, and `fit` stops. Nothing was wrong with the code, the data or the
# learning rate.
#
# **Exercise 4.4.** Where does such a rule come from? A neuron *without* activation adds 100
# products, weight times input. The inputs have standard deviation 1. A sum of 100 independent
# numbers spreads as wide as one of them times the root of 100. Which `std` must the weights have,
# so that the sum has standard deviation 1 again?

# %%
### BEGIN SOLUTION
std_for_100 = 1 / math.sqrt(100)
### END SOLUTION
check("4.4", std_for_100)

# %% [markdown]
# ## Learning by heart
#
# Now only 40 points to learn from, and a network with more than 4000 numbers to learn.
#
# **What do you expect** for the loss of these points, and for the loss of others?


# %%
few, few_labels = mg.data.moons(240, noise=0.3, seed=5, as_array=True)
small_set = (few[:40], few_labels[:40])
others = (few[40:], few_labels[40:])


def run_on_few(**options):
    model = mg.nn.MLP(2, [64, 64], 1, rng=1)
    options = {"epochs": 200, "batch_size": None, "seed": 1, "progress": False, **options}
    return mg.fit(model, small_set, "bce", mg.optim.Adam(0.02), validation=others, **options)


by_heart = run_on_few()
show_curves("loss", training=by_heart.loss, validation=by_heart.validation_loss)

# %% [markdown]
# The training loss goes on falling. The validation loss falls, turns, and rises: from there on the
# network learns the noise of its 40 points by heart. That is **overfitting**.
# The training loss alone never tells you.

# %%
print("smallest validation loss in epoch", by_heart.best_epoch)
print("points known by heart  ", by_heart.accuracy[-1])
print("others, at the end     ", by_heart.validation_accuracy[-1])
print("others, in the best one", by_heart.validation_accuracy[by_heart.best_epoch - 1])

# %% [markdown]
# What helps? More data, a smaller network, or stopping in time. `early_stop=20` ends the training
# when the validation loss was not smaller for 20 epochs, and goes back to the best weights.
# (Now the validation points have helped to choose the weights. For an honest number at the very
# end one keeps a third set, the **test** set, and looks at it once.)

# %%
stopped = run_on_few(early_stop=20)
print(stopped.stopped, "after epoch", len(stopped), "- best was", stopped.best_epoch)

# %% [markdown]
# **Exercise 4.5.** Write the test yourself. The function gets the validation losses so far, a list,
# and the patience, a number of epochs. It returns `True` if the last `patience` losses are all not
# below the smallest of those before them, and `False` otherwise. While there are not more than
# `patience` losses, it is too early to stop.


# %%
def should_stop(losses, patience):
    ### BEGIN SOLUTION
    if len(losses) <= patience:
        return False
    return min(losses[-patience:]) >= min(losses[:-patience])
    ### END SOLUTION


check("4.5", should_stop)

# %% [markdown]
# ## Save and load
#
# What a network has learned are its parameters, and nothing else. By name they are its **state**.

# %%
state = model.state_dict()
print({name: numbers.shape for name, numbers in state.items()})

# %% [markdown]
# Save it, make a new network of the same shape, and load. (The folder is a temporary one, which
# is deleted at the end of the block.)
#
# **What do you expect?** Which accuracy has the new network before loading, and after?

# %%
fresh = mg.nn.MLP(2, [16, 16], 1, activation="tanh", rng=2)
print("trained      ", accuracy(model, x_valid, y_valid))
print("new          ", accuracy(fresh, x_valid, y_valid))
with tempfile.TemporaryDirectory() as folder:
    path = model.save(Path(folder) / "moons.npz")
    fresh.load(path)
print("after loading", accuracy(fresh, x_valid, y_valid))

# %% [markdown]
# A state that does not fit is refused as a whole. The message says what differs:

# %%
try:
    mg.nn.MLP(2, [8, 16], 1).load_state_dict(state)
except ArgumentValueError as error:
    print(error)

# %% [markdown]
# The state holds numbers only. It does not know the activation, so keep the line of code that made
# the network.
#
# ## A real task
#
# 1797 handwritten digits of 8 × 8 pixels. They come with scikit-learn. If you do not have it, you
# get three spirals, and the same code.

# %%
try:
    images, classes = mg.data.digits()
    task = "digits"
except MissingDependencyError:
    print("scikit-learn is not installed, so here are three spirals in place of the digits.")
    images, classes = mg.data.spirals(600, classes=3, seed=1, as_array=True)
    task = "spirals"
count = int(classes.max()) + 1
print(task, images.shape, "with", count, "classes")

# %% [markdown]
# With more than two classes there is one output for each class, and the loss is `cross_entropy`.
#
# **What do you expect?** The first loss is near the logarithm of the number of classes. How
# many of the examples that it has not seen does it name rightly in the end?

# %%
im_train, im_valid, cl_train, cl_valid = mg.data.split(
    images, classes, test=0.25, stratify=True, seed=1
)
reader = mg.nn.MLP(images.shape[1], [32, 32], count, rng=1)
loss = mg.cross_entropy(reader(im_train), cl_train)
print("first loss", loss.data, "  logarithm", math.log(count))

# %%
history = mg.fit(
    reader,
    (im_train, cl_train),
    loss="cross_entropy",
    optimizer=mg.optim.Adam(0.02),
    epochs=20,
    validation=(im_valid, cl_valid),
    early_stop=10,
    seed=1,
)

# %% [markdown]
# The last epoch need not be the best. Because of `early_stop` the weights are those of the best
# one. Look at what it got wrong, not only at the percentage.

# %%
with mg.no_grad():
    answers = mg.argmax(reader(im_valid), axis=1).data
wrong = np.flatnonzero(answers != cl_valid)
print(f"{len(wrong)} of {len(cl_valid)} are wrong")
for i in wrong[:4]:
    print("is", cl_valid[i], "  was taken for", answers[i])

# %%
if plt and task == "digits":
    _, pictures = plt.subplots(1, 4, figsize=(6, 2))
    for axes, i in zip(pictures, wrong):
        axes.imshow(im_valid[i].reshape(8, 8), cmap="gray_r")
        axes.set(xticks=[], yticks=[], title=f"{cl_valid[i]}, not {answers[i]}")

# %% [markdown]
# ## What you take with you
#
# - Know the loss of a network that knows nothing, and compare before you train.
# - A loss that creeps: the learning rate is too small. A loss that jumps about: it is too large.
# - A loss that does not move at all: print the gradient of each layer, and look at the start.
# - Trust the validation loss. Stop when it turns.
