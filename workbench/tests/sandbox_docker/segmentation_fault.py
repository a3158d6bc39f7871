# end: Crashed("the interpreter died of a segmentation fault")
import ctypes

print("before")
ctypes.string_at(0)
