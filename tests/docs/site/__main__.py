"""Makes the folder of the documentation site: a part of `make site`.

python -m tests.docs.site FOLDER        replaces what is there
"""

import sys
from pathlib import Path

from tests.docs.site.folder import make_folder

make_folder(Path(sys.argv[1]))
