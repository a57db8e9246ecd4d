package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A file system of its own, in memory or in a file; every write to the latter can be made to hang.
 * Needs root.
 */
public final class SmallDisk implements AutoCloseable {
  /** Enough for a short life of a drive: segments of 64 MiB. */
  private static final String SIZE = "1500m";

  /** Of a slow one: for how long writes hang, and for how long they do not. */
  private static final Duration SLOW = Duration.ofMillis(300);

  private static final Duration BETWEEN = Duration.ofMillis(100);

  private final Path mountPoint;
  private final @Nullable Path image;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean isFrozen;
  private volatile boolean isSlow;
  private @Nullable Thread slowing;

  private SmallDisk(Path mountPoint, @Nullable Path image) {
    this.mountPoint = mountPoint;
    this.image = image;
  }

  /** Makes an empty one there, in memory. */
  public static SmallDisk inMemory(Path mountPoint) {
    prepare(mountPoint);
    Commands.run("mount", "-t", "tmpfs", "-o", "size=" + SIZE, "disk", mountPoint.toString());
    return new SmallDisk(mountPoint, null);
  }

  /** Makes an empty one there, in a file beside it. */
  public static SmallDisk thatCanHang(Path mountPoint) {
    return thatCanHang(mountPoint, SIZE);
  }

  /**
   * The same in another size.
   *
   * @param size as {@code 1500m}; the file takes what is written to it
   */
  public static SmallDisk thatCanHang(Path mountPoint, String size) {
    prepare(mountPoint);
    Path image = mountPoint.resolveSibling(mountPoint.getFileName() + ".image");
    Commands.run("truncate", "-s", size.toUpperCase(Locale.ROOT), image.toString());
    Commands.run("mkfs.ext4", "-q", image.toString());
    Commands.run("mount", "-o", "loop", image.toString(), mountPoint.toString());
    return new SmallDisk(mountPoint, image);
  }

  private static void prepare(Path mountPoint) {
    try {
      Files.createDirectories(mountPoint);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Why this machine has none that can hang; empty if it has. */
  public static String refusal() {
    if (!Commands.tried("id", "-u").output().equals("0")) {
      return "disks that hang need root";
    }
    try {
      Path folder = Files.createTempDirectory("small-disk");
      try (SmallDisk one = thatCanHang(folder.resolve("disk"))) {
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

  public boolean canHang() {
    return image != null;
  }

  /** Writes and syncs do not come back from now on; reads do. */
  public void freeze() {
    set(true);
  }

  /** They all come back. */
  public void thaw() {
    set(false);
  }

  private void set(boolean frozen) {
    lock.lock();
    try {
      if (isFrozen != frozen) {
        Commands.run("fsfreeze", frozen ? "-f" : "-u", mountPoint.toString());
        isFrozen = frozen;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Writes hang for most of the time, and come back again and again. */
  public void slow() {
    isSlow = true;
    slowing = Thread.ofPlatform().name("slow-disk").daemon().start(this::hangAgainAndAgain);
  }

  private void hangAgainAndAgain() {
    while (isSlow) {
      freeze();
      ServerProcess.pause(SLOW);
      thaw();
      ServerProcess.pause(BETWEEN);
    }
  }

  public void fast() {
    isSlow = false;
    Thread running = slowing;
    try {
      if (running != null) {
        running.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Whoever is in the midst of a write can end now. */
  public void calm() {
    fast();
    thaw();
  }

  @Override
  public void close() {
    calm();
    Commands.tried("umount", "-l", mountPoint.toString());
    try {
      if (image != null) {
        Files.deleteIfExists(image);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
