# end: Exit(1)
# says: <exception str() failed>
class Bad(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


raise Bad
