//! A run of the compiler with limits: on its time, on its output, and on what it can read.

use std::{
    io::{self, Read, Write},
    path::Path,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// The most bytes of the compiler's output, and of its messages.
const MAX_OUTPUT: u64 = 64 << 20;
const MAX_MESSAGES: u64 = 4 << 10;

/// The interval at which a run checks whether it has to end.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// The time that a program has for its exit after it has closed its output.
const EXIT_TIMEOUT: Duration = Duration::from_millis(100);

/// A program, and the limits of its run.
pub(super) struct CompilerRun<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [&'a str],
    pub(super) time_limit: Duration,
    /// Whether the node is shutting down.
    pub(super) is_stopping: &'a (dyn Fn() -> bool + Sync),
}

impl CompilerRun<'_> {
    /// Runs the program in an empty directory with this input; its output. Afterwards none of its
    /// processes is left.
    pub(super) fn output(&self, input: Vec<u8>) -> Result<Vec<u8>, String> {
        let failed = |error: io::Error| self.failed(&error);
        let folder = tempfile::Builder::new()
            .prefix("tetrad-solc-")
            .tempdir()
            .map_err(failed)?;
        let mut command = self.command(folder.path()).map_err(failed)?;
        let mut compiler = RunningCompiler {
            child: command.spawn().map_err(failed)?,
            is_ended: false,
        };

        let child = &mut compiler.child;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        // The threads end with the pipes, at the latest when the processes are killed.
        write_input(stdin, input).map_err(failed)?;
        let messages = read_messages(stderr).map_err(failed)?;
        let waiting = read_output(stdout).map_err(failed)?;

        let output = self.wait_for(&waiting)?;
        if output.len() as u64 > MAX_OUTPUT {
            return Err(format!(
                "the compiler's output has more than {MAX_OUTPUT} bytes"
            ));
        }

        let ended = compiler.end();
        if output.is_empty() {
            let messages = messages.join().unwrap_or_default();
            let messages = String::from_utf8_lossy(&messages).trim().to_owned();
            let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            return Err(format!("the compiler failed ({status}): {messages}"));
        }
        Ok(output)
    }

    fn failed(&self, error: &io::Error) -> String {
        format!(
            "the compiler {} cannot be run: {error}",
            self.program.display()
        )
    }

    /// The command that runs the program in this folder.
    fn command(&self, folder: &Path) -> io::Result<Command> {
        // The run has a working directory of its own, from which a relative path would lead
        // elsewhere.
        let mut command = Command::new(std::path::absolute(self.program)?);
        command.args(self.arguments).current_dir(folder);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());

        // A wrapper finds its interpreter, and nothing of the node's settings is passed on.
        command
            .env_clear()
            .env("TMPDIR", folder)
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        in_own_group(&mut command);
        Ok(command)
    }

    /// Waits for the output until the time limit, or until the node ends.
    fn wait_for(&self, waiting: &Receiver<io::Result<Vec<u8>>>) -> Result<Vec<u8>, String> {
        let until = Instant::now() + self.time_limit;
        loop {
            match waiting.recv_timeout(CANCEL_CHECK_INTERVAL) {
                Ok(output) => return output.map_err(|error| self.failed(&error)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.failed(&io::ErrorKind::BrokenPipe.into()));
                }
                Err(RecvTimeoutError::Timeout) if (self.is_stopping)() => {
                    return Err("the node is shutting down".to_owned());
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until => {
                    return Err(format!(
                        "the compiler took longer than {} s",
                        self.time_limit.as_secs()
                    ));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Writes the input on a thread.
fn write_input(mut stdin: ChildStdin, input: Vec<u8>) -> io::Result<()> {
    thread::Builder::new()
        .name("solc-input".to_owned())
        .spawn(move || {
            // A compiler that does not read its input reports why.
            let _ = stdin.write_all(&input);
        })
        .map(drop)
}

/// Reads the messages on a thread, to their end, of which the first bytes count.
fn read_messages(mut stderr: ChildStderr) -> io::Result<JoinHandle<Vec<u8>>> {
    thread::Builder::new()
        .name("solc-messages".to_owned())
        .spawn(move || {
            let mut text = Vec::new();
            let _ = (&mut stderr).take(MAX_MESSAGES).read_to_end(&mut text);
            let _ = io::copy(&mut stderr, &mut io::sink());
            text
        })
}

/// Reads the output on a thread, one byte beyond its limit at most.
fn read_output(stdout: ChildStdout) -> io::Result<Receiver<io::Result<Vec<u8>>>> {
    let (done, waiting) = channel();
    thread::Builder::new()
        .name("solc-output".to_owned())
        .spawn(move || {
            let mut output = Vec::new();
            let read = stdout.take(MAX_OUTPUT + 1).read_to_end(&mut output);
            let _ = done.send(read.map(|_| output));
        })?;
    Ok(waiting)
}

/// A running compiler, which is killed with its children when it is dropped.
struct RunningCompiler {
    child: Child,
    is_ended: bool,
}

impl RunningCompiler {
    /// Waits a moment for the program, which has closed its output, and then kills what is left of
    /// it. The program is not waited for before that, so that its number, which is that of its
    /// group, belongs to no other process.
    fn end(&mut self) -> io::Result<ExitStatus> {
        let until = Instant::now() + EXIT_TIMEOUT;
        while !has_exited(&self.child) && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
        }

        kill_group(&mut self.child);
        self.is_ended = true;
        self.child.wait()
    }
}

impl Drop for RunningCompiler {
    fn drop(&mut self) {
        if !self.is_ended {
            kill_group(&mut self.child);
            let _ = self.child.wait();
        }
    }
}

#[cfg(unix)]
fn in_own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn in_own_group(_: &mut Command) {}

#[cfg(unix)]
fn process_of(child: &Child) -> Option<rustix::process::Pid> {
    i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
}

/// Returns whether a program has ended, without waiting for it.
#[cfg(unix)]
fn has_exited(child: &Child) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    process_of(child).is_none_or(|process| !matches!(waitid(WaitId::Pid(process), look), Ok(None)))
}

#[cfg(not(unix))]
fn has_exited(_: &Child) -> bool {
    false
}

/// Kills a program that has not been waited for, and its children.
#[cfg(unix)]
fn kill_group(child: &mut Child) {
    if let Some(group) = process_of(child) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    let _ = child.kill();
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs, path::PathBuf};

    use super::*;

    fn run(script: &str, time_limit: Duration, is_stopping: bool) -> Result<String, String> {
        let run = CompilerRun {
            program: Path::new("/bin/sh"),
            arguments: &["-c", script],
            time_limit,
            is_stopping: &|| is_stopping,
        };
        run.output(b"the input".to_vec())
            .map(|output| String::from_utf8(output).expect("text"))
    }

    fn within_a_minute(script: &str) -> Result<String, String> {
        run(script, Duration::from_secs(60), false)
    }

    /// Waits until a process is gone, or only waits to be reaped.
    fn wait_for_the_end(pid: &str) {
        let stat = format!("/proc/{}/stat", pid.trim());
        while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z")) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_program_gets_its_input_and_nothing_else() {
        assert_eq!(within_a_minute("cat; ls -A").unwrap(), "the input");
        let names = within_a_minute("env").unwrap();
        let mut names: Vec<_> = names
            .lines()
            .map(|line| line.split('=').next().unwrap())
            .collect();
        names.retain(|name| !["_", "SHLVL", "OLDPWD"].contains(name));
        names.sort_unstable();
        assert_eq!(names, ["PATH", "PWD", "TMPDIR"]);
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; sleep 600", file.display());
        let error = run(&script, Duration::from_secs(1), false).unwrap_err();
        assert!(error.contains("took longer than 1 s"), "{error}");
        wait_for_the_end(&fs::read_to_string(&file).unwrap());

        let error = run("sleep 600", Duration::from_secs(60), true).unwrap_err();
        assert!(error.contains("shutting down"), "{error}");
    }

    #[test]
    fn a_relative_path_is_one_of_the_node() {
        let above = std::env::current_dir()
            .unwrap()
            .components()
            .skip(1)
            .map(|_| "..")
            .collect::<PathBuf>();
        let program = above.join("bin/echo");
        let run = CompilerRun {
            program: &program,
            arguments: &["found"],
            time_limit: Duration::from_secs(60),
            is_stopping: &|| false,
        };
        assert_eq!(run.output(Vec::new()), Ok(b"found\n".to_vec()));
    }

    #[test]
    fn children_that_outlive_the_program_are_killed() {
        let pid = within_a_minute("sleep 600 > /dev/null 2>&1 < /dev/null & echo $!").unwrap();
        wait_for_the_end(&pid);
    }

    #[test]
    fn failures_say_why() {
        let error = within_a_minute("echo broken >&2; exit 3").unwrap_err();
        assert!(
            error.contains("exit status: 3") && error.contains("broken"),
            "{error}"
        );

        assert!(
            within_a_minute("yes")
                .unwrap_err()
                .contains("has more than")
        );

        let missing = CompilerRun {
            program: Path::new("/none"),
            arguments: &[],
            time_limit: CANCEL_CHECK_INTERVAL,
            is_stopping: &|| false,
        };
        assert!(
            missing
                .output(Vec::new())
                .unwrap_err()
                .contains("/none cannot be run")
        );
    }
}
