# end: Exit(1) | Crashed
# says: RecursionError | stack
class Endless:
    def __repr__(self):
        return f"{self!r}"

    def __getattr__(self, name):
        return getattr(self, name + "x")

    def __eq__(self, other):
        return self == other

    def __call__(self):
        return self()

    def __iter__(self):
        return iter(self)

    def __bool__(self):
        return not self

    def __hash__(self):
        return hash(self)


for attempt in (repr, lambda e: e.a, lambda e: e == 1, lambda e: e(), iter, bool, hash):
    try:
        attempt(Endless())
    except RecursionError:
        pass
print(Endless())
