package dev.ashlar.it.harness;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/** A Python environment of ours with the pinned clients, made once per set of pins. */
public final class Python {
  private static final Path SOURCES = Path.of("src", "test", "python").toAbsolutePath();

  private static final ReentrantLock BUILDING = new ReentrantLock();

  private final Path interpreter;

  private Python(Path interpreter) {
    this.interpreter = interpreter;
  }

  public static Python withClients() throws IOException, InterruptedException {
    Path requirements = SOURCES.resolve("requirements.txt");
    String pins = Content.sha256(Files.readAllBytes(requirements)).substring(0, 12);
    Path cache =
        Files.createDirectories(Path.of(System.getProperty("user.home"), ".cache", "ashlar"));
    Path environment = cache.resolve("python-" + pins);
    Path complete = environment.resolve("complete");
    // Neither two tests nor two test runs at once may build the same environment; closing ends the
    // lock of the file.
    BUILDING.lock();
    try (FileChannel lock =
        FileChannel.open(
            cache.resolve("python.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      lock.lock();
      if (!Files.exists(complete)) {
        ServerProcess.deleteRecursively(environment);
        create(environment, requirements);
        Files.createFile(complete);
      }
    } finally {
      BUILDING.unlock();
    }
    return new Python(environment.resolve("bin").resolve("python"));
  }

  /** The folder with the clients' commands. */
  public Path programs() {
    return Objects.requireNonNull(interpreter.getParent());
  }

  private static void create(Path environment, Path requirements)
      throws IOException, InterruptedException {
    String hint = " (on Debian and Ubuntu: apt-get install python3 python3-venv)";
    run(
        List.of("python3", "-m", "venv", environment.toString()),
        "python3 with venv is needed" + hint);
    run(
        List.of(
            environment.resolve("bin/python").toString(),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
            requirements.toString()),
        "pip could not install boto3 and awscli; is a package index reachable?");
  }

  /** Runs one of our scripts with the server's endpoint and credentials; its output is printed. */
  public void run(String script, ServerProcess server, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(interpreter.toString());
    command.add(SOURCES.resolve(script).toString());
    command.add(server.endpoint().toString());
    command.addAll(List.of(arguments));
    run(command, script + " failed");
  }

  private static void run(List<String> command, String complaint)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("AWS_ACCESS_KEY_ID", ServerProcess.ACCESS_KEY);
    builder.environment().put("AWS_SECRET_ACCESS_KEY", ServerProcess.SECRET_KEY);
    builder.environment().put("AWS_CONFIG_FILE", "/dev/null");
    builder.environment().put("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
    builder.environment().put("AWS_EC2_METADATA_DISABLED", "true");
    builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new AssertionError(complaint, e);
    }
    String output =
        new String(
            process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new AssertionError(complaint + "\n" + output);
    }
    System.out.print(output);
  }
}
