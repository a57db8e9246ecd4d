package dev.ashlar.it.harness;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * An ext4 file system on a disk that acknowledges writes and loses, misdirects or tears them. Below
 * its loop device is a file that {@code faulty-disk.c} serves over FUSE. Needs root, gcc, {@code
 * /dev/fuse} and loop devices.
 */
public final class FaultyDisk implements AutoCloseable {
  /**
   * The allocation tables and the journal of ext4 end before this byte: with {@code
   * packed_meta_blocks} they are at the beginning. Files and directories are behind.
   */
  public static final long CONTENT_FROM = 56L << 20;

  private static final String FORMAT_OPTIONS =
      "nodiscard,packed_meta_blocks=1,lazy_itable_init=1,lazy_journal_init=1";

  /** Exit codes of e2fsck up to this one: errors, if any, were corrected. */
  private static final int CORRECTED = 3;

  private final Path mountPoint;
  private final Path backing;
  private final Path served;
  private final Process server;
  private final Writer commands;
  private final BufferedReader answers;
  private final Thread cleanUp = new Thread(this::detach);

  /** The ways in which a disk can lie about a write. */
  public enum Fault {
    LOST,
    MISDIRECTED,
    TORN
  }

  /**
   * How many writes the disk has done, and how many of them not as it was asked.
   *
   * @param done whole and in place
   * @param lost acknowledged only
   * @param misdirected done elsewhere
   * @param torn done in part
   */
  public record Counts(long done, long lost, long misdirected, long torn) {
    public long faulty() {
      return lost + misdirected + torn;
    }
  }

  private FaultyDisk(Path mountPoint, Path images, long bytes) throws IOException {
    this.mountPoint = mountPoint;
    backing = images.resolve(mountPoint.getFileName() + ".disk");
    served = images.resolve(mountPoint.getFileName() + ".served");
    Files.createDirectories(mountPoint);
    Files.createDirectories(served);
    try (RandomAccessFile file = new RandomAccessFile(backing.toFile(), "rw")) {
      file.setLength(bytes);
    }
    server = new ProcessBuilder(Server.FILE.toString(), "" + backing, "" + served).start();
    commands = server.outputWriter(UTF_8);
    answers = server.inputReader(UTF_8);
  }

  /**
   * Makes a healthy one.
   *
   * @param mountPoint where the file system appears
   * @param images a directory for the disk's bytes, beside the mount point
   * @param bytes size of the disk, of which what is written takes room
   */
  public static FaultyDisk create(Path mountPoint, Path images, long bytes, long seed) {
    try {
      FaultyDisk disk = new FaultyDisk(mountPoint, images, bytes);
      Runtime.getRuntime().addShutdownHook(disk.cleanUp);
      disk.expect("mounted");
      disk.command("seed " + seed);
      disk.format();
      return disk;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Why there can be none here; empty if there can. */
  public static String refusal() {
    return Server.REFUSAL;
  }

  public Path mountPoint() {
    return mountPoint;
  }

  /** Makes its file system anew. The disk has to be healthy. */
  public void empty() {
    Commands.run("umount", mountPoint.toString());
    format();
  }

  private void format() {
    String image = image();
    Commands.run("mkfs.ext4", "-q", "-F", "-E", FORMAT_OPTIONS, image);
    mount();
  }

  private String image() {
    return served.resolve("image").toString();
  }

  private void mount() {
    Commands.run("mount", "-o", "loop", image(), mountPoint.toString());
  }

  /**
   * Lies from now on. A torn write is the next one that has several blocks; with it the power
   * fails: later writes are acknowledged and dropped.
   *
   * @param perThousand share of the writes that are lost or misdirected
   * @param from first byte of the disk of which this is so
   */
  public void fail(Fault fault, int perThousand, long from) {
    command(
        switch (fault) {
          case LOST -> "lost " + perThousand + " " + from;
          case MISDIRECTED -> "misdirected " + perThousand + " " + from;
          case TORN -> "torn " + from;
        });
  }

  /** Does every write from now on; damage that is done stays. */
  public void heal() {
    command("healthy");
  }

  public Counts counts() {
    String[] numbers = ask("counts").split(" ", -1);
    return new Counts(
        Long.parseLong(numbers[0]),
        Long.parseLong(numbers[1]),
        Long.parseLong(numbers[2]),
        Long.parseLong(numbers[3]));
  }

  /**
   * Unmounts, heals, checks and mounts the file system again, as an operator would after a failure
   * of the disk. What the page cache had is gone. A file system beyond repair comes back empty.
   *
   * @return whether it is the one of before
   */
  public boolean remount() {
    Commands.run("umount", mountPoint.toString());
    heal();
    boolean isCorrected = Commands.tried("e2fsck", "-fy", image()).code() <= CORRECTED;
    if (isCorrected
        && Commands.tried("mount", "-o", "loop", image(), mountPoint.toString()).code() == 0) {
      return true;
    }
    format();
    return false;
  }

  private void command(String line) {
    String answer = ask(line);
    if (!answer.equals("ok")) {
      throw new AssertionError(line + ": " + answer);
    }
  }

  private String ask(String line) {
    try {
      commands.write(line + "\n");
      commands.flush();
      return line();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void expect(String wanted) throws IOException {
    String line = line();
    if (!line.equals(wanted)) {
      throw new IOException("faulty-disk: " + line);
    }
  }

  private String line() throws IOException {
    String line = answers.readLine();
    if (line == null) {
      throw new IOException(
          "faulty-disk ended: " + new String(server.getErrorStream().readAllBytes(), UTF_8));
    }
    return line;
  }

  /** The processes that use it have to have ended. */
  private void detach() {
    Commands.tried("umount", "-l", mountPoint.toString());
    try {
      commands.close(); // the end of its input ends the server
      server.waitFor();
    } catch (IOException e) {
      server.destroy();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Commands.tried("umount", "-l", served.toString());
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(cleanUp);
    detach();
    try {
      Files.deleteIfExists(backing);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The server of the disks' bytes, compiled once. */
  private static final class Server {
    static final Path FILE = Path.of("target").toAbsolutePath().resolve("faulty-disk");
    private static final Path SOURCE = Path.of("src", "test", "c", "faulty-disk.c");
    static final String REFUSAL = refusal();

    private static String refusal() {
      try {
        if (!Commands.tried("id", "-u").output().equals("0")) {
          return "faulty disks need root";
        }
        for (String device : new String[] {"/dev/fuse", "/dev/loop-control"}) {
          if (!Files.isWritable(Path.of(device))) {
            return "faulty disks need " + device;
          }
        }
        Files.createDirectories(FILE.getParent());
        Commands.Ended compiled = Commands.tried("gcc", "-O2", "-o", "" + FILE, "" + SOURCE);
        return compiled.code() == 0 ? tried() : "faulty disks need gcc: " + compiled.output();
      } catch (IOException | UncheckedIOException e) {
        return "faulty disks need gcc: " + e.getMessage();
      }
    }

    /** Containers may show the devices and refuse their use. */
    private static String tried() throws IOException {
      Path folder = Files.createTempDirectory("faulty-disk");
      try (FaultyDisk disk =
          create(folder.resolve("disk"), folder.resolve("images"), 128 << 20, 1)) {
        Files.createFile(disk.mountPoint().resolve("file"));
        return "";
      } catch (AssertionError | IOException | UncheckedIOException e) {
        return "faulty disks are not possible here: " + e.getMessage();
      } finally {
        ServerProcess.deleteRecursively(folder);
      }
    }
  }
}
