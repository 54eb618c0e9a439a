"""A real SLURM on one machine: munged, slurmctld and four slurmd on loopback, from Debian's packages.

No systemd, no accounting database, no cgroups, nothing in /etc: everything lies in one folder and ends with `stop`.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
NODES = {"cpu1": "", "cpu2": "", "gpu1": "Gres=gpu:2", "gpu2": "Gres=gpu:2"}
os.environ["PATH"] += ":/usr/sbin:/sbin"  # where Debian keeps daemons

CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# a requeued job starts again once its old credential has expired
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
# a step that outgrows its --mem is killed
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
# nodes may claim more processors than the machine has
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
KillWait=5
ReturnToService=2
AccountingStorageType=accounting_storage/none
MinJobAge=900
{nodes}
PartitionName=cpu Nodes=cpu1,cpu2 Default=YES MaxTime=7-0 State=UP
PartitionName=gpu Nodes=gpu1,gpu2 MaxTime=7-0 State=UP
"""

# Snakemake's job step drops all of SLURM_* before its own srun, and with it where our slurm.conf lies.
SRUN = """#!/bin/sh
SLURM_CONF={folder}/slurm.conf exec {srun} "$@"
"""


def missing():
    """Name the programs that are not installed, or say that root is needed; empty where all is well."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if absent:
        return f"{', '.join(absent)} not found (Debian: apt-get install slurmctld slurmd slurm-client munge)"
    return "" if os.geteuid() == 0 else "slurmd starts jobs as root only"


@dataclass
class Cluster:
    """A cluster whose files lie in one folder."""

    folder: Path
    daemons: dict = field(default_factory=dict)

    @property
    def environment(self):
        """The environment in which SLURM's commands and Snakemake reach this cluster and no other."""
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "SLURM_CONF": f"{self.folder}/slurm.conf"}

    def start(self):
        """Write the configuration, start the daemons and wait until every node answers."""
        for name in ("bin", "state", "spool"):
            (self.folder / name).mkdir(parents=True)
        ports = _free_ports(1 + len(NODES))
        host = socket.gethostname().split(".")[0]
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=8 RealMemory=64000 {gres}"
            for (name, gres), port in zip(NODES.items(), ports[1:], strict=True)
        )
        (self.folder / "slurm.conf").write_text(CONFIG.format(host=host, folder=self.folder, ports=ports, nodes=nodes))
        # any two device files do for GPUs
        (self.folder / "gres.conf").write_text("NodeName=gpu[1-2] Name=gpu File=/dev/null,/dev/zero\n")
        srun = self.folder / "bin/srun"
        srun.write_text(SRUN.format(folder=self.folder, srun=shutil.which("srun")))
        srun.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self._daemon(
            "munged",
            *("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket"),
            *(f"--pid-file={self.folder}/munge.pid", f"--seed-file={self.folder}/munge.seed"),
            f"--log-file={self.folder}/munge.log",
        )
        _wait_for(lambda: (self.folder / "munge.socket").exists(), "munged", 20)
        self._daemon("slurmctld", "slurmctld", "-D", "-c")
        for node in NODES:
            self.start_node(node)
        _wait_for(lambda: set(self.node_states().values()) == {"idle"}, f"nodes; see {self.folder}/*.log", 60)

    def start_node(self, node):
        """Start the slurmd of a node."""
        self._daemon(node, "slurmd", "-D", "-N", node)

    def stop(self):
        """End all jobs and daemons."""
        self.run("scancel", "--user=root", check=False)
        for name in ("slurmctld", *NODES, "munged"):
            daemon = self.daemons.get(name)
            if daemon and daemon.poll() is None:
                daemon.terminate()
                try:
                    daemon.wait(10)
                except subprocess.TimeoutExpired:
                    daemon.kill()
                    daemon.wait()
        for node in NODES:
            _kill(self._processes(node))

    def run(self, *command, check=True):
        """Run a command of SLURM; return what it printed."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0 or not check, f"{command}: {done.stderr}"
        return done.stdout

    def node_states(self):
        """Return each node's state, `idle`, `mix`, `down`, ..., with a star where it does not answer."""
        lines = self.run("sinfo", "-h", "-N", "-o", "%N %t", check=False).splitlines()
        return dict(line.split() for line in lines)

    def jobs(self):
        """List all jobs so far: a dict each, of what scontrol shows of it."""
        lines = self.run("scontrol", "show", "job", "--oneliner").splitlines()
        words = [[word.partition("=") for word in line.split()] for line in lines if line.startswith("JobId")]
        return [{key: value for key, _, value in pairs} for pairs in words]

    def job(self, comment):
        """Return the last job that runs now under a comment (the plugin names rule and wildcards); else None."""
        running = [job for job in self.jobs() if job.get("Comment") == comment and job["JobState"] == "RUNNING"]
        return running[-1] if running else None

    def wait_until_requeued(self, job):
        """Wait until SLURM has put a job that lost its node back into the queue."""
        _wait_for(lambda: "Restarts=0" not in self.run("scontrol", "show", "job", job), f"job {job}", 60)

    def cut_power(self, node):
        """Kill everything on a node at once, as a power cut would, and let SLURM find out."""
        self.daemons[node].kill()
        _kill(self._processes(node))
        self.daemons[node].wait()
        self.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=power")

    def _processes(self, node):
        """List the process ids of all that SLURM started on a node, the daemons of job steps first."""
        parents, daemons, started = {}, set(), set()
        ours = {f"SLURM_CONF={self.folder}/slurm.conf".encode(), f"SLURMD_NODENAME={node}".encode()}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                stat = (folder / "stat").read_text()
                environment = {*(folder / "environ").read_bytes().split(b"\0")}
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            pid = int(folder.name)
            parents[pid] = int(stat.rpartition(")")[2].split()[1])
            if command.startswith(b"slurmstepd"):
                daemons.add(pid)
            elif ours <= environment:
                started.add(pid)
        while grown := {pid for pid, parent in parents.items() if parent in started} - started:
            started |= grown
        return [*(daemons & {parents[pid] for pid in started}), *started]

    def _daemon(self, name, *command):
        with (self.folder / f"{name}.out").open("w") as out:
            self.daemons[name] = subprocess.Popen(
                command, env=self.environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
            )


def _kill(processes):
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _wait_for(condition, what, seconds):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, f"waited {seconds} s for {what}"
        time.sleep(0.2)
