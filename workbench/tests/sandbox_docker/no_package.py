# end: Exit(1)
try:
    import no_such_first
except ImportError as error:
    print(error)
import no_such_second
