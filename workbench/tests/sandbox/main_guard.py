import sys

if __name__ == "__main__":
    print(__name__, __file__, sys.argv, repr(sys.stdin.read()))
    try:
        input("name? ")
    except EOFError as error:
        print(error)
