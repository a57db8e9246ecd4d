package dev.ashlar.protocol.fault;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A file system of its own in a file, whose power can be cut: what was not synced is gone then, as
 * it would be with the machine's page cache. SIGKILL shows nothing of that kind. Needs root, loop
 * devices and the file system's tools; {@link #unavailable} tells what is missing.
 */
public final class PowerCutFileSystem implements AutoCloseable {
  private static final long BYTES = 256L << 20;
  private static final long COMMAND_MAX_S = 60;

  /**
   * The ioctl with which ext4 and XFS stop at once, {@code _IOR('X', 125, __u32)}, and its flag to
   * write not even the journal.
   */
  private static final String SHUTDOWN =
      """
      import fcntl, os, struct, sys
      fd = os.open(sys.argv[1], os.O_RDONLY)
      fcntl.ioctl(fd, 0x8004587D, struct.pack('I', 2))
      """;

  private final Path mountPoint;
  private final Path images;
  private int generation;
  private boolean isMounted;

  private PowerCutFileSystem(Path mountPoint, Path images) {
    this.mountPoint = mountPoint;
    this.images = images;
  }

  /** Why there can be none here; empty: there can. */
  public static Optional<String> unavailable() {
    for (String[] needed :
        new String[][] {
          {"test", "-w", "/dev/loop-control"},
          {"which", "mkfs.ext4"},
          {"which", "python3"},
          {"which", "mount"},
          {"sh", "-c", "test $(id -u) = 0"}
        }) {
      try {
        run(needed);
      } catch (IOException e) {
        return Optional.of("a power cut needs root, loop devices, ext4 and python3: " + e);
      }
    }
    return Optional.empty();
  }

  /**
   * Makes one, with ext4.
   *
   * @param mountPoint an empty directory
   * @param images a directory, for files of up to 256 MiB, mostly holes
   */
  public static PowerCutFileSystem create(Path mountPoint, Path images) throws IOException {
    PowerCutFileSystem made = new PowerCutFileSystem(mountPoint, images);
    Files.createDirectories(mountPoint);
    Files.createDirectories(images);
    try (RandomAccessFile image = new RandomAccessFile(made.image().toFile(), "rw")) {
      image.setLength(BYTES);
    }
    run("mkfs.ext4", "-q", "-F", made.image().toString());
    made.mount();
    return made;
  }

  private Path image() {
    return images.resolve("disk-" + generation);
  }

  private void mount() throws IOException {
    run("mount", "-o", "loop", image().toString(), mountPoint.toString());
    isMounted = true;
  }

  /** From now on every call on its files fails. What was not synced will not be there again. */
  public void cut() throws IOException {
    run("python3", "-c", SHUTDOWN, mountPoint.toString());
  }

  /**
   * After the cut: as it comes back. Open files of before stay open, and failed: nothing that is
   * done with them can come into the new one, which is a copy.
   */
  public void remount() throws IOException {
    Path before = image();
    generation++;
    run("cp", "--sparse=always", before.toString(), image().toString());
    unmount();
    Files.delete(before);
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
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(COMMAND_MAX_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException(Arrays.toString(command) + " fails: " + output);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }
}
