"""What acts on the world: name → cell. Each runs in a folder with `kept.txt`, `kept/inner.txt`, `kept.db`, `kept.bin`.

`# ---` ends what an earlier cell has run. `PORT` is a server's on 127.0.0.1 that counts its callers.
"""

from __future__ import annotations

FILES = {
    "open": "open('new.txt', 'w').write('x')",
    "open_append": "open('kept.txt', 'a').write('x')",
    "open_update": "open('kept.txt', 'r+')",
    "open_exclusive": "open('new.txt', 'x')",
    "open_alias": "import builtins\nwriter = getattr(builtins, 'op' + 'en')\n# ---\nwriter('new.txt', 'w')",
    "io_open": "import io\nio.open('new.txt', 'wb')",
    "os_open": "import os\nos.open('new.txt', os.O_CREAT | os.O_RDWR)",
    "os_open_truncate": "import os\nos.open('kept.txt', os.O_WRONLY | os.O_TRUNC)",
    "codecs_open": "import codecs\ncodecs.open('new.txt', 'w', 'utf8')",
    "exec": "exec(\"open('new.txt', 'w').write('x')\")",
    "exec_elsewhere": "exec(\"open('new.txt', 'w').write('x')\", {})",
    "eval": "eval(\"open('new.txt', 'w')\")",
    "remove_alias": "from os import remove as forget\n# ---\nforget('kept.txt')",
    "unlink": "import os\nos.unlink('kept.txt')",
    "removed_by_map": "import os\nlist(map(os.remove, ['kept.txt']))",
    "rename": "from os import rename\n# ---\nrename('kept.txt', 'other.txt')",
    "replace": "import os\nos.replace('kept.txt', 'kept.db')",
    "mkdir": "from os import mkdir\n# ---\nmkdir('new')",
    "makedirs": "import os\nos.makedirs('new/inner', exist_ok=True)",
    "rmdir": "import os\nos.rmdir('empty')",
    "link": "import os\nos.link('kept.txt', 'new.txt')",
    "symlink": "import os\nos.symlink('kept.txt', 'new.txt')",
    "chmod": "import os\nos.chmod('kept.txt', 0o600)",
    "utime": "import os\nos.utime('kept.txt', (1, 1))",
    "truncate": "import os\nos.truncate('kept.txt', 0)",
    "mkfifo": "import os\nos.mkfifo('new')",
    "rmtree_alias": "from shutil import rmtree as clean\n# ---\nclean('kept')",
    "copyfile": "from shutil import copyfile\n# ---\ncopyfile('kept.txt', 'new.txt')",
    "copytree": "import shutil\nshutil.copytree('kept', 'new')",
    "move": "from shutil import move\n# ---\nmove('kept.txt', 'kept/')",
    "make_archive": "import shutil\nshutil.make_archive('new', 'zip', 'kept')",
    "path_write_text": "from pathlib import Path\nPath('new.txt').write_text('x')",
    "path_touch": "from pathlib import Path\nPath('new.txt').touch()",
    "path_touch_existing": "from pathlib import Path\nPath('kept.txt').touch()",
    "path_unlink": "from pathlib import Path\nPath('kept.txt').unlink()",
    "path_mkdir": "from pathlib import Path\nPath('new').mkdir()",
    "zipfile": "import zipfile\nzipfile.ZipFile('new.zip', 'a').writestr('x', 'x')",
    "tarfile": "import tarfile\ntarfile.open('new.tar', 'w').add('kept.txt')",
    "gzip": "import gzip\ngzip.open('new.gz', 'wb').write(b'x')",
    "csv": "import csv\ncsv.writer(open('new.csv', 'w')).writerow([1])",
    "json": "import json\nwith open('new.json', mode='w') as f: json.dump({}, f)",
    "pickle": "import pickle\npickle.dump({}, open('new.pkl', 'wb'))",
    "shelve": "import shelve\nshelve.open('new')['a'] = 1",
    "dbm": "import dbm.dumb\ndbm.dumb.open('new', 'c')",
    "sqlite_alias": "from sqlite3 import connect\n# ---\nconnect('kept.db').execute('create table t (a)')",
    "log_file": "import logging\nlogging.getLogger('x').addHandler(logging.FileHandler('new.log'))",
    "temporary_folder": "import tempfile\ntempfile.mkdtemp(dir='.')",
    "temporary_file": "import tempfile\ntempfile.NamedTemporaryFile(dir='.', delete=False).write(b'x')",
    "mmap": "import mmap\nwith open('kept.bin', 'r+b') as f: mmap.mmap(f.fileno(), 0)[0] = 1",
    "mmap_of_earlier": "import mmap, os\nfd = os.open('kept.bin', os.O_RDWR)\n# ---\nmmap.mmap(fd, 0)[0] = 1",
    "earlier_descriptor": "import os\nfd = os.open('kept.txt', os.O_RDWR)\n# ---\nos.write(fd, b'yy')",
    "earlier_descriptor_opened": "import os\nfd = os.open('kept.txt', os.O_RDWR)\n# ---\nopen(fd, 'w', closefd=False)",
    "libc": "import ctypes\nctypes.CDLL(None).unlink(b'kept.txt')",
    "subclass": "import io\nclass Log(io.FileIO): pass\n# ---\nLog('new.txt', 'w').write(b'x')",
}
LIBRARIES = {
    "torch_save": "import torch\ntorch.save({'a': torch.ones(3)}, 'new.pt')",
    "torch_save_alias": "from torch import save\n# ---\nsave({'a': 1}, 'new.pt')",
    "torch_save_path": "import torch, pathlib\ntorch.save({'a': 1}, pathlib.Path('new.pt'))",
    "torch_save_old": "import torch\ntorch.save({'a': 1}, 'new.pt', _use_new_zipfile_serialization=False)",
    "jit_save": "import torch\ntorch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), 'new.pt')",
    "jit_method": "import torch\ntorch.jit.script(torch.nn.Linear(2, 2)).save('new.pt')",
    "from_file": "import torch\ntorch.from_file('new.bin', shared=True, size=10)",
    "storage_from_file": "import torch\ntorch.UntypedStorage.from_file('new.bin', shared=True, nbytes=10)",
    "trace_export": "import torch\nwith torch.profiler.profile() as p: pass\n# ---\np.export_chrome_trace('new.json')",
    "file_store": "import torch.distributed as dist\ndist.FileStore('new.store', 1).set('a', 'b')",
    "process_group": (
        "from torch.distributed import init_process_group as start\n# ---\n"
        "start('gloo', init_method=f'tcp://127.0.0.1:0', rank=0, world_size=1)"
    ),
    "numpy_save": "from numpy import save, ones\n# ---\nsave('new.npy', ones(3))",
    "numpy_savez": "import numpy as np\nnp.savez_compressed('new.npz', a=np.ones(3))",
    "numpy_tofile": "import numpy as np\nnp.ones(3).tofile('new.bin')",
    "numpy_savetxt": "import numpy as np\nnp.savetxt('new.txt', np.ones(3))",
    "memmap": "import numpy as np\nnp.memmap('kept.bin', mode='r+')[0] = 1",
    "memmap_new": "import numpy as np\nnp.lib.format.open_memmap('new.npy', 'w+', shape=(3,))[0] = 1",
    "to_csv": "import pandas as pd\npd.DataFrame({'a': [1]}).to_csv('new.csv')",
    "to_pickle": "import pandas as pd\npd.DataFrame({'a': [1]}).to_pickle('new.pkl')",
    "savefig": "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('new.png')",
    "image": "from PIL import Image\nImage.new('L', (2, 2)).save('new.png')",
    "joblib": "from joblib import dump\n# ---\ndump({}, 'new.joblib')",
    "requests": "from requests import get\n# ---\nget(f'http://127.0.0.1:{PORT}', timeout=2)",
}
PROCESSES = {
    "subprocess": "import subprocess\nsubprocess.run(['touch', 'new.txt'])",
    "popen_alias": "from subprocess import Popen as Start\n# ---\nStart(['touch', 'new.txt']).wait()",
    "os_system": "from os import system\n# ---\nsystem('touch new.txt')",
    "os_popen": "import os\nos.popen('touch new.txt').read()",
    "posix_spawn": "import os\nos.posix_spawn('/bin/touch', ['touch', 'new.txt'], {})",
    "fork": "import os\nif os.fork() == 0:\n    open('new.txt', 'w')\n    os._exit(0)",
    "process": (
        "import multiprocessing as mp\ndef work(): open('new.txt', 'w')\n# ---\n"
        "one = mp.get_context('fork').Process(target=work)\none.start()\none.join()"
    ),
    "process_pool": "import multiprocessing as mp\nmp.get_context('fork').Pool(1).map(open, ['kept.txt'])",
    "kill": "import os, signal\nos.kill(os.getppid(), signal.SIGCONT)",
    "terminal": "import pty\npty.spawn(['touch', 'new.txt'])",
}
NETWORK = {
    "socket": "import socket\nsocket.create_connection(('127.0.0.1', PORT), timeout=2)",
    "socket_alias": "from socket import socket as Phone\n# ---\nPhone().connect(('127.0.0.1', PORT))",
    "bind": "import socket\nsocket.socket().bind(('127.0.0.1', 0))",
    "sendto": "import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))",
    "lookup": "import socket\nsocket.getaddrinfo('gpuprof.invalid', 80)",
    "urlopen": "from urllib.request import urlopen\n# ---\nurlopen(f'http://127.0.0.1:{PORT}', timeout=2)",
    "http": "import http.client\nhttp.client.HTTPConnection('127.0.0.1', PORT, timeout=2).request('GET', '/')",
    "smtp": "import smtplib\nsmtplib.SMTP('127.0.0.1', PORT, timeout=2)",
    "ftp": "import ftplib\nftplib.FTP('127.0.0.1', timeout=2)",
    "browser": "import webbrowser\nwebbrowser.GenericBrowser('touch').open('new.txt')",
    "httpx": "import httpx\nhttpx.get(f'http://127.0.0.1:{PORT}', timeout=2)",
}
HIDDEN = {
    "in_a_function": "def log(text):\n    open('new.txt', 'a').write(text)\n# ---\nfor at in range(3): log('x')",
    "in_a_method": "class Log:\n    def __call__(self): open('new.txt', 'a')\nlog = Log()\n# ---\nlog()",
    "swallowed": "try:\n    open('new.txt', 'w')\nexcept Exception:\n    pass",
    "swallowed_by_all": "try:\n    open('new.txt', 'w')\nexcept:\n    pass",
    "swallowed_and_raised": "try:\n    open('new.txt', 'w')\nexcept BaseException:\n    raise ValueError('mine')",
    "swallowed_for_ever": "try:\n    open('new.txt', 'w')\nexcept:\n    pass\nfor at in range(10**9): step()",
    "suppressed": "import contextlib\nwith contextlib.suppress(BaseException): open('new.txt', 'w')",
    "in_a_thread": (
        "import threading\ndef work(): open('new.txt', 'w')\n# ---\n"
        "one = threading.Thread(target=work)\none.start()\none.join()"
    ),
    "in_a_pool": (
        "from concurrent.futures import ThreadPoolExecutor\n# ---\n"
        "with ThreadPoolExecutor(1) as pool: pool.submit(open, 'new.txt', 'w')"
    ),
    "in_a_raw_thread": "import _thread, time\n_thread.start_new_thread(open, ('new.txt', 'w'))\ntime.sleep(0.2)",
    "in_a_timer": "import threading, os\nthreading.Timer(1.0, os.remove, ['kept.txt']).start()",
    "in_a_thread_later": (
        "import threading, time\ndef work():\n    time.sleep(0.8)\n    open('new.txt', 'w')\n# ---\n"
        "threading.Thread(target=work, daemon=True).start()"
    ),
    "in_del": "class Late:\n    def __del__(self): open('new.txt', 'w')\n# ---\nlate = Late()\ndel late",
    "in_del_at_the_end": "class Late:\n    def __del__(self): open('new.txt', 'w')\n# ---\nlate = Late()",
    "in_del_of_a_cycle": (
        "class Late:\n    def __del__(self): open('new.txt', 'w')\n# ---\nlate = Late()\nlate.itself = late\ndel late"
    ),
    "in_finalize": (
        "import weakref, os\nclass Late: pass\n# ---\nlate = Late()\nweakref.finalize(late, os.remove, 'kept.txt')"
    ),
    "at_exit": "import atexit, os\natexit.register(os.remove, 'kept.txt')",
    "in_a_hook": (
        "import torch\nm = torch.nn.Linear(2, 2)\nm.register_forward_hook(lambda *_: open('new.txt', 'w'))\n# ---\n"
        "m(torch.ones(2))"
    ),
    "in_backward": (
        "import torch\nclass Log(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x): return x.clone()\n"
        "    @staticmethod\n    def backward(ctx, g):\n        open('new.txt', 'w')\n        return g\n# ---\n"
        "Log.apply(torch.ones(1, requires_grad=True)).sum().backward()"
    ),
    "input": "input('name: ')",
    "input_alias": "ask = input\n# ---\nask('name: ')",
    "getpass": "from getpass import getpass\n# ---\ngetpass()",
    "breakpoint": "breakpoint()",
}
_DATASET = (
    "import torch\nclass Data(torch.utils.data.Dataset):\n    def __len__(self): return 8\n"
    "    def __getitem__(self, at):\n        {}\n        return at\n# ---\n"
    "for x in torch.utils.data.DataLoader(Data(), num_workers=1{}): pass"
)
WORKERS = {
    "worker": _DATASET.format("open('new.txt', 'a')", ""),
    "worker_swallowed": _DATASET.format("\n        try: open('new.txt', 'a')\n        except BaseException: pass", ""),
    "worker_save": _DATASET.format("torch.save({}, 'new.pt')", ""),
    "worker_process": _DATASET.format("__import__('os').system('touch new.txt')", ""),
    "worker_init": _DATASET.format("pass", ", worker_init_fn=lambda at: open('new.txt', 'w')"),
}
STOPPED = {**FILES, **LIBRARIES, **PROCESSES, **NETWORK, **HIDDEN, **WORKERS}
# told by another line than the cell's own
ELSEWHERE = {
    **dict.fromkeys(("in_a_timer", "in_a_thread_later", "in_del_at_the_end", "in_del_of_a_cycle"), ""),
    "in_finalize": "",
}
