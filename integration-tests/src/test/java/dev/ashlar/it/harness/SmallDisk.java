package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file system of its own in a file, of which every write can be made to hang. Needs root. */
public final class SmallDisk implements AutoCloseable {
  private static final String SIZE = "1500M";

  private final Path image;
  private final Path mountPoint;
  private boolean isFrozen;

  /** Makes an empty one there. */
  public SmallDisk(Path mountPoint) {
    this.mountPoint = mountPoint;
    image = mountPoint.resolveSibling(mountPoint.getFileName() + ".image");
    try {
      Files.createDirectories(mountPoint);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Commands.run("truncate", "-s", SIZE, image.toString());
    Commands.run("mkfs.ext4", "-q", image.toString());
    Commands.run("mount", "-o", "loop", image.toString(), mountPoint.toString());
  }

  /** Why this machine has none; empty if it has. */
  public static String refusal() {
    if (!Commands.tried("id", "-u").output().equals("0")) {
      return "disks that hang need root";
    }
    try {
      Path folder = Files.createTempDirectory("small-disk");
      try (SmallDisk one = new SmallDisk(folder.resolve("disk"))) {
        one.freeze();
        one.thaw();
        return "";
      } finally {
        ServerProcess.deleteRecursively(folder);
      }
    } catch (AssertionError | IOException | RuntimeException e) {
      return "disks that hang are not possible here: " + e.getMessage();
    }
  }

  public Path mountPoint() {
    return mountPoint;
  }

  /** Writes and syncs do not come back from now on; reads do. */
  public void freeze() {
    Commands.run("fsfreeze", "-f", mountPoint.toString());
    isFrozen = true;
  }

  /** They all come back. */
  public void thaw() {
    if (isFrozen) {
      Commands.run("fsfreeze", "-u", mountPoint.toString());
      isFrozen = false;
    }
  }

  /** Whoever uses it has ended. */
  @Override
  public void close() {
    thaw();
    Commands.tried("umount", "-l", mountPoint.toString());
    try {
      Files.deleteIfExists(image);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
