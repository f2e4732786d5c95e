# cluster.sh: tests source it for a Slurm of their own on this host: four virtual nodes n1 to n4 with four emulated GPUs
# each, of three models. cluster_start starts it below $work, cluster_stop ends its daemons, of which no other is touched.

# Fails if Slurm cannot run here, and prints the reason.
can_cluster() {
  for tool in slurmctld slurmd srun munged; do
    command -v $tool >/dev/null || { echo "there is no $tool: make deps-fleet installs it"; return 1; }
  done
  [ "$(id -u)" = 0 ] || { echo "slurmd runs jobs only as root"; return 1; }
}

cluster_start() {
  cluster=$work/slurm host=$(hostname -s) base_port=$((20000 + $$ % 20000))
  export SLURM_CONF="$cluster/slurm.conf"
  mkdir -p "$cluster/state" "$cluster/munge"
  chmod 755 "$work" "$cluster"
  chmod 700 "$cluster/munge"
  head -c 128 /dev/urandom >"$cluster/munge/key"
  chmod 400 "$cluster/munge/key"
  touch "$cluster/gpu0" "$cluster/gpu1" "$cluster/gpu2" "$cluster/gpu3"
  # Each node tells its tasks which GPUs and which driver it has. The driver of tests reads this.
  cat >"$cluster/prolog" <<EOF
#!/bin/sh
number=\${SLURMD_NODENAME#n}
case \$number in 1 | 2) name='NVIDIA H200' ;; 3) name='NVIDIA H100 80GB HBM3' ;; *) name='NVIDIA A100-SXM4-80GB' ;; esac
echo "export HALOTUNE_FAKE_NAME=\$name"
echo "export HALOTUNE_FAKE_HOST=\$number"
echo "export HALOTUNE_FAKE_DEVICES=4"
echo "export HALOTUNE_LIBCUDA=$library"
echo "export HALOTUNE_LIBNVML=$library"
EOF
  chmod 755 "$cluster/prolog"
  cat >"$SLURM_CONF" <<EOF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$base_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool.%n
TmpFS=$cluster/tmp.%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.%n.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=$cluster/prolog
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=10
JobRequeue=1
SchedulerParameters=sched_interval=1,requeue_delay=1
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((base_port + 1))-$((base_port + 2))] CPUs=4 RealMemory=1000 Gres=gpu:h200:4 State=UNKNOWN
NodeName=n3 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base_port + 3)) CPUs=4 RealMemory=1000 Gres=gpu:h100:4 State=UNKNOWN
NodeName=n4 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base_port + 4)) CPUs=4 RealMemory=1000 Gres=gpu:a100:4 State=UNKNOWN
PartitionName=gpu Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP
EOF
  cat >"$cluster/gres.conf" <<EOF
NodeName=n[1-2] Name=gpu Type=h200 File=$cluster/gpu[0-3]
NodeName=n3 Name=gpu Type=h100 File=$cluster/gpu[0-3]
NodeName=n4 Name=gpu Type=a100 File=$cluster/gpu[0-3]
EOF
  munged --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" \
    --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" --num-threads=2 || return 1
  slurmctld -c || return 1
  for node in n1 n2 n3 n4; do
    mkdir -p "$cluster/spool.$node" "$cluster/tmp.$node"
    slurmd -N $node || return 1
  done
  await nodes_are_up
}
nodes_are_up() { [ "$(sinfo -h -N -o '%N %t' 2>/dev/null | grep -c ' idle$')" = 4 ]; }

cluster_stop() {
  # Without a requeue, and with no process that outlives its daemon.
  scancel --signal=KILL --full --state=RUNNING --user=root 2>/dev/null
  scancel --user=root 2>/dev/null
  await no_job_is_left
  daemons=$(cat "$cluster"/slurmd.n?.pid "$cluster/slurmctld.pid" "$cluster/munge/pid" 2>/dev/null)
  # shellcheck disable=SC2086
  [ -z "$daemons" ] || kill $daemons
  await daemons_are_gone
}
no_job_is_left() { [ -z "$(squeue -h 2>/dev/null)" ]; }
# A daemon that has ended may stay as a zombie where nobody waits for it.
daemons_are_gone() {
  for daemon in $daemons; do
    [ ! -e "/proc/$daemon/stat" ] || grep -q ') Z ' "/proc/$daemon/stat" || return 1
  done
}

# The state of a job: RUNNING, COMPLETED, ...
job_state() { scontrol show job "$1" | sed -n 's/^ *JobState=\([A-Z_]*\).*/\1/p'; }
job_is() { case " $2 " in *" $(job_state "$1") "*) ;; *) return 1 ;; esac } # job states
ENDED="COMPLETED FAILED CANCELLED TIMEOUT NODE_FAIL BOOT_FAIL DEADLINE OUT_OF_MEMORY"
await_end() { # job
  await job_is "$1" "$ENDED"
}
