package dev.ashlar.protocol.fault;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A file system of its own in a file, whose power can be cut: what was not synced is gone then, as
 * it would be with the machine's page cache. SIGKILL shows nothing of that kind. Needs root, loop
 * devices and the file system's tools; {@link #unavailable} tells what is missing.
 */
public final class PowerCutFileSystem implements AutoCloseable {
  private static final long COMMAND_MAX_S = 60;

  /**
   * The ioctl with which ext4 and XFS stop at once, {@code _IOR('X', 125, __u32)}, and its flag to
   * write not even the journal.
   */
  private static final String SHUTDOWN =
      """
      import fcntl, os, struct, sys
      open_roots = [os.open(root, os.O_RDONLY) for root in sys.argv[1:]]
      for fd in open_roots:
          fcntl.ioctl(fd, 0x8004587D, struct.pack('I', 2))
      """;

  /** File systems whose power can be cut. */
  public enum Kind {
    EXT4("mkfs.ext4", "-F", "defaults"),
    // The copy that is mounted after a cut has the UUID of the one before.
    XFS("mkfs.xfs", "-f", "nouuid");

    private final String make;
    private final String force;
    private final String mountOptions;

    Kind(String make, String force, String mountOptions) {
      this.make = make;
      this.force = force;
      this.mountOptions = mountOptions;
    }
  }

  private final Kind kind;
  private final Path mountPoint;
  private final Path images;
  private int generation;
  private boolean isMounted;

  private PowerCutFileSystem(Kind kind, Path mountPoint, Path images) {
    this.kind = kind;
    this.mountPoint = mountPoint;
    this.images = images;
  }

  /** Why there can be none of this kind here; empty: there can. */
  public static Optional<String> unavailable(Kind kind) {
    for (List<String> needed :
        List.of(
            List.of("test", "-w", "/dev/loop-control"),
            List.of("which", kind.make),
            List.of("which", "python3"),
            List.of("which", "mount"),
            List.of("sh", "-c", "test $(id -u) = 0"))) {
      try {
        run(needed);
      } catch (IOException e) {
        return Optional.of(
            "a power cut needs root, loop devices, " + kind.make + " and python3: " + e);
      }
    }
    return Optional.empty();
  }

  /**
   * Makes one.
   *
   * @param mountPoint an empty directory
   * @param images a directory for its files, which are mostly holes
   * @param bytes how large it is; XFS needs 300 MiB
   */
  public static PowerCutFileSystem create(Kind kind, Path mountPoint, Path images, long bytes)
      throws IOException {
    PowerCutFileSystem made = new PowerCutFileSystem(kind, mountPoint, images);
    Files.createDirectories(mountPoint);
    Files.createDirectories(images);
    try (RandomAccessFile image = new RandomAccessFile(made.image().toFile(), "rw")) {
      image.setLength(bytes);
    }
    run(kind.make, "-q", kind.force, made.image().toString());
    made.mount();
    return made;
  }

  private Path image() {
    return images.resolve("disk-" + generation);
  }

  private void mount() throws IOException {
    String options = "loop," + kind.mountOptions;
    run("mount", "-o", options, image().toString(), mountPoint.toString());
    isMounted = true;
  }

  /** From now on every call on its files fails. What was not synced will not be there again. */
  public void cut() throws IOException {
    cut(List.of(this));
  }

  /** Cuts the power of all of them, one right after the other. */
  public static void cut(List<PowerCutFileSystem> all) throws IOException {
    List<String> command = new ArrayList<>(List.of("python3", "-c", SHUTDOWN));
    all.forEach(each -> command.add(each.mountPoint.toString()));
    run(command);
  }

  /**
   * From now on the disk cannot read anything: only what the page cache has is still there. For the
   * rest of its life.
   */
  public void loseDisk() throws IOException {
    try (RandomAccessFile image = new RandomAccessFile(image().toFile(), "rw")) {
      image.setLength(0);
    }
  }

  /**
   * After the cut: as it comes back. Where files of before are still open, they stay so, and
   * failed: nothing that is done with them can come into the new one, which is a copy then.
   */
  public void remount() throws IOException {
    try {
      run("umount", mountPoint.toString());
    } catch (IOException stillInUse) {
      Path before = image();
      generation++;
      run("cp", "--sparse=always", before.toString(), image().toString());
      unmount();
      Files.delete(before);
    }
    mount();
  }

  private void unmount() throws IOException {
    isMounted = false;
    run("umount", "-l", mountPoint.toString());
  }

  @Override
  public void close() throws IOException {
    if (isMounted) {
      unmount();
    }
    Files.deleteIfExists(image());
  }

  private static void run(String... command) throws IOException {
    run(List.of(command));
  }

  private static void run(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(COMMAND_MAX_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException(command + " fails: " + output);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }
}
