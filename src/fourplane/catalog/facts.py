"""placeholder"""


class Catalog: ...
