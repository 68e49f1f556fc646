class Part:
    parameters: tuple[str, ...]
