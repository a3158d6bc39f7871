# end: Exit(1)
# says: PermissionError | UnpicklingError | AttributeError
# docker end: Exit(0)
# docker says: UnpicklingError
import pickle


class Spawn:
    def __reduce__(self):
        import os

        return os.system, ("true",)


for text in (b"cos\nsystem\n(S'true'\ntR.", b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.", b"(" * 100000):
    try:
        print(pickle.loads(text))
    except Exception as error:
        print(type(error).__name__)
pickle.loads(pickle.dumps(Spawn()))
