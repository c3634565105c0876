"""The lessons run, their checks help, and both of their forms say the same."""
