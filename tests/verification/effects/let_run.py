"""What changes nothing, or nothing that is not put back: name → cell, as in `stopped`."""

from __future__ import annotations

_DATA = (
    "import torch\nclass Data(torch.utils.data.Dataset):\n    def __len__(self): return 16\n"
    "    def __getitem__(self, at): return open('kept.txt').read(1), torch.full((100,), at)\n# ---\n"
)
READING = {
    "read": "assert open('kept.txt').read()",
    "read_bytes": "from pathlib import Path\nPath('kept.bin').read_bytes()\nlist(Path('.').rglob('*'))",
    "os_read": "import os\nfd = os.open('kept.txt', os.O_RDONLY)\nos.read(fd, 3)\nos.close(fd)",
    "mmap_read": "import mmap\nwith open('kept.bin', 'rb') as f: mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)[0]",
    "memmap_read": "import numpy as np\nnp.memmap('kept.bin', mode='r').sum()",
    "memmap_copy": "import numpy as np\nnp.memmap('kept.bin', mode='c')[0] = 1",
    "torch_load": "import torch\ntorch.save({'a': torch.ones(3)}, 'kept.pt')\n# ---\ntorch.load('kept.pt')",
    "torch_load_mapped": "import torch\ntorch.save({}, 'kept.pt')\n# ---\ntorch.load('kept.pt', mmap=True)",
    "read_csv": "import pandas as pd\npd.read_csv('kept.txt')",
    "sqlite_memory": "import sqlite3\nsqlite3.connect(':memory:').execute('create table t (a)')",
    "sqlite_read_only": "import sqlite3\nsqlite3.connect('file:kept.db?mode=ro', uri=True)",
    "import": "import sys\nsys.modules.pop('colorsys', None)\nimport colorsys",
    "stat": "import os\nos.path.exists('.git') or os.stat('kept.txt')",
}
NOTHING = {
    "print": "import sys\nprint('x')\nprint('y', file=sys.stderr)\nsys.stdout.flush()",
    "devnull": "import os, contextlib\nwith open(os.devnull, 'w') as f, contextlib.redirect_stdout(f): print('x')",
    "makedirs_existing": "import os\nos.makedirs('kept', exist_ok=True)",
    "path_mkdir_existing": "from pathlib import Path\nPath('kept').mkdir(parents=True, exist_ok=True)",
    "unlink_missing": "from pathlib import Path\nPath('none').unlink(missing_ok=True)",
    "rmtree_missing": "import shutil\nshutil.rmtree('none', ignore_errors=True)",
    "save_in_memory": "import io, torch, numpy as np\ntorch.save({}, io.BytesIO())\nnp.save(io.BytesIO(), np.ones(3))",
    "jit_save_in_memory": "import io, torch\ntorch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), io.BytesIO())",
    "zip_in_memory": "import io, zipfile\nzipfile.ZipFile(io.BytesIO(), 'w').writestr('a', 'b')",
    "to_csv_in_memory": "import io, pandas as pd\npd.DataFrame({'a': [1]}).to_csv(io.StringIO())",
    "unnamed_temporary_file": "import tempfile\ntempfile.TemporaryFile().write(b'x')",
    "spooled_file": "import tempfile\ntempfile.SpooledTemporaryFile(100).write(b'x')",
    "plot": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.gcf().canvas.draw()\nplt.show()",
    "savefig_in_memory": "import io, matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig(io.BytesIO())",
    "tqdm": "from tqdm import tqdm\nfor _ in tqdm(range(3), mininterval=0): pass",
    "logging": "import logging\nlogging.getLogger('x').warning('y')",
    "environment": "import os\nos.environ['GPUPROF_TEST'] = '1'",
    "chdir": "import os\nos.chdir('kept')",
    "lookup_of_an_address": "import socket\nsocket.getaddrinfo('127.0.0.1', 80)\nsocket.gethostname()",
    "socket_pair": "import socket\none, two = socket.socketpair()\none.send(b'x')\ntwo.recv(1)",
    "pipe": "import os\nr, w = os.pipe()\nos.fdopen(w, 'wb').write(b'x')\nos.close(r)",
    "thread": "import threading\none = threading.Thread(target=print)\none.start()\none.join()",
    "thread_pool": "from concurrent.futures import ThreadPoolExecutor as Pool\nassert [*Pool(2).map(abs, [1])] == [1]",
    "own_event_loop": (
        "import threading, asyncio\nasync def work(): await asyncio.create_task(asyncio.sleep(0))\n"
        "one = threading.Thread(target=lambda: asyncio.run(work()))\none.start()\none.join()"
    ),
    "names_only": "names = ['a', 'b']\nnames.remove('a')\n'a'.replace('a', 'b')\nsave = open = 1",
    "kernel_alive": "import os\nos.kill(os.getpid(), 0)",
    "ctypes_number": "import ctypes\nctypes.c_int64(0).value += 1",
}
NEVER_RUN = {
    "tracker_off": (
        "import types\nargs = types.SimpleNamespace(track=False)\nif args.track:\n    wandb.init()\n    wandb.log({})"
    ),
    "checkpoint_off": "import torch\nfor at in range(3):\n    if at == 100: torch.save({}, 'new.pt')",
    "branch": "import os, shutil\nif len('a') > 1:\n    os.remove('kept.txt'); shutil.rmtree('kept'); os.system('ls')",
    "function_not_called": "def clean():\n    import subprocess\n    subprocess.run(['ls'])\n    open('new.txt', 'w')",
    "shell_command_off": "if False:\n    get_ipython().system('ls')\n    get_ipython().run_line_magic('cd', '/')",
    "magic": "names = globals()\nif 'get_ipython' in names: get_ipython().run_line_magic('matplotlib', 'inline')",
    "other_branch": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass\nelse:\n    open('new.txt', 'w')",
}
LOADERS = {
    "loader": f"{_DATA}for x in torch.utils.data.DataLoader(Data(), batch_size=4): pass",
    "workers": f"{_DATA}for x in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=2): pass",
    "persistent_workers": (
        f"{_DATA}loader = torch.utils.data.DataLoader(Data(), num_workers=2, persistent_workers=True)\n"
        "for epoch in range(2):\n    for x in loader: pass"
    ),
    "workers_left": f"{_DATA}batch = next(iter(torch.utils.data.DataLoader(Data(), num_workers=1)))",
    "workers_file_system": (
        f"{_DATA}import torch.multiprocessing as mp\nbefore = mp.get_sharing_strategy()\n"
        "mp.set_sharing_strategy('file_system')\ntry:\n"
        "    for x in torch.utils.data.DataLoader(Data(), num_workers=1): pass\n"
        "finally: mp.set_sharing_strategy(before)"
    ),
    "shared_memory": "import torch\ntorch.ones(100).share_memory_()",
}
LET_RUN = {**READING, **NOTHING, **NEVER_RUN, **LOADERS}
