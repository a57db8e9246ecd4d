package dev.ashlar.it.harness;

import dev.ashlar.protocol.fault.PowerCutFileSystem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * The folders of a server, on one or more file systems whose power can be cut.
 *
 * <p>The server is stopped during a cut. An fsync that is under way while ext4 is shut down may
 * return 0 although its transaction is given up: {@code jbd2_complete_transaction} takes a
 * transaction that is gone for one that is committed. Where power fails, nobody hears of that.
 */
public final class PowerCutFolders implements AutoCloseable {
  /** Between two cuts that are not at the same time. */
  private static final int GAP_MS_MAX = 300;

  private final Path base;
  private final List<PowerCutFileSystem> disks = new ArrayList<>();
  private final Thread cleanUp = new Thread(this::unmount);

  /**
   * Makes them.
   *
   * @param mountPoints below the root of the folders; empty for the root itself
   * @param bytes of each file system
   */
  public PowerCutFolders(
      String name, PowerCutFileSystem.Kind kind, List<String> mountPoints, long bytes)
      throws IOException {
    base = Path.of("target", "it", name).toAbsolutePath();
    ServerProcess.deleteRecursively(base);
    Runtime.getRuntime().addShutdownHook(cleanUp);
    try {
      for (String each : mountPoints) {
        Path images = base.resolve("images").resolve(each.isEmpty() ? "all" : each);
        disks.add(PowerCutFileSystem.create(kind, root().resolve(each), images, bytes));
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Below which the server's folders are. */
  public Path root() {
    return base.resolve("root");
  }

  /** Cuts the power of all file systems at the same time. */
  public void cutTogether(ServerProcess server) throws Exception {
    Suspension.during(server.pid(), () -> PowerCutFileSystem.cut(disks));
  }

  /** Cuts the power of one after the other, in any order. */
  public void cutOneByOne(ServerProcess server, SplittableRandom random) throws Exception {
    List<PowerCutFileSystem> order = new ArrayList<>(disks);
    Collections.shuffle(order, new Random(random.nextLong()));
    for (PowerCutFileSystem each : order) {
      Suspension.during(server.pid(), each::cut);
      ServerProcess.pause(Duration.ofMillis(random.nextInt(GAP_MS_MAX)));
    }
  }

  /** As the power comes back. */
  public void remount() throws IOException {
    for (PowerCutFileSystem each : disks) {
      each.remount();
    }
  }

  private void unmount() {
    for (PowerCutFileSystem each : disks) {
      try {
        each.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(cleanUp);
    unmount();
    ServerProcess.deleteRecursively(base);
  }
}
