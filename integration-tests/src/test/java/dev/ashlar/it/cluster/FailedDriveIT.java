package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SmallDisk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Drives fail, or hang, in nodes that live, while a client writes and reads. */
class FailedDriveIT {
  private static final List<String> SHAPE =
      List.of("--nodes", "5", "--metadata", "1", "--gateways", "1", "--profile", "2+2");
  private static final int OBJECTS = 20;
  private static final String FAILING = "storage-1";

  /** Two segments, of which half is parity, on each of five drives. */
  private static final int FILLING = 40;

  private static final int FILLING_BYTES = 8 << 20;

  private final long seed = Seeds.seed("FailedDriveIT");

  /** What it had is lost, too: its files are gone, and what is not written yet has no place. */
  @LongTest
  void aDriveWhoseFolderIsGoneIsTakenOutAndComesBackEmpty() throws Exception {
    try (ClusterProcess cluster = ClusterProcess.start("failed-drive", SHAPE)) {
      AdminPages admin = new AdminPages(cluster.nodes());
      KnownObjects objects = new KnownObjects(cluster.nodes(), seed);
      cluster.nodes().node("gateway-1").restartWith("out-after=2");
      admin.awaitWhole();
      NodeProcess node = cluster.nodes().node(FAILING);
      try (ChangeClient s3 = objects.client()) {
        objects.make(s3, OBJECTS);
        objects.underLoad(
            () -> {
              ServerProcess.deleteRecursively(node.folder().resolve("drive"));
              fillUntilItFails(s3, objects, node);
              awaitOut(admin);
            });
        assertTrue(node.isAlive());
        objects.check(s3);
        admin.awaitWhole();
        node.restartWith("");
        awaitIn(admin);
        objects.check(s3);
        for (String other : List.of("storage-2", "storage-3")) {
          cluster.nodes().node(other).kill();
        }
        objects.check(s3);
      }
    }
  }

  private static void fillUntilItFails(ChangeClient s3, KnownObjects objects, NodeProcess node)
      throws Exception {
    for (int i = 0; i < FILLING && !isReadOnly(node); i++) {
      objects.put(s3, "filling-" + i, FILLING_BYTES);
    }
    node.awaitHealth(page -> !page.contains("\"readOnly\":[]"));
  }

  private static boolean isReadOnly(NodeProcess node) {
    return !node.health().orElse("\"readOnly\":[]").contains("\"readOnly\":[]");
  }

  private static void awaitOut(AdminPages admin) throws Exception {
    admin.await(
        "drives",
        page ->
            AdminPages.standing(page, FAILING).equals("out")
                && AdminPages.hasFailed(page, FAILING)
                && AdminPages.slots(page, FAILING) == 0,
        "out");
  }

  private static void awaitIn(AdminPages admin) throws Exception {
    admin.await(
        "drives",
        page ->
            AdminPages.standing(page, FAILING).equals("in") && AdminPages.slots(page, FAILING) > 0,
        "in again");
    admin.awaitWhole();
  }

  @LongTest
  void aDriveThatHangsIsTakenOutAndComesBackByItself() throws Exception {
    String refusal = SmallDisk.refusal();
    assumeTrue(refusal.isEmpty(), refusal);
    try (ClusterProcess cluster = ClusterProcess.start("hanging-drive", SHAPE);
        SmallDisk disk =
            SmallDisk.thatCanHang(cluster.nodes().node(FAILING).folder().resolve("disk"))) {
      AdminPages admin = new AdminPages(cluster.nodes());
      KnownObjects objects = new KnownObjects(cluster.nodes(), seed);
      cluster.nodes().node("gateway-1").restartWith("out-after=2");
      NodeProcess node = cluster.nodes().node(FAILING);
      Path folder = Files.createDirectories(disk.mountPoint().resolve("drive"));
      Files.createFile(folder.resolve("replacement-confirmed")); // it is on another file system
      node.restartWith("hang-after=10\ndata=" + folder);
      admin.awaitWhole();
      try (ChangeClient s3 = objects.client()) {
        objects.make(s3, OBJECTS);
        objects.underLoad(
            () -> {
              disk.freeze();
              awaitOut(admin);
              cluster.nodes().awaitNothingOwed();
            });
        assertTrue(node.isAlive());
        objects.check(s3);
        admin.awaitWhole();
        disk.thaw();
        awaitIn(admin);
        objects.check(s3);
      } finally {
        disk.thaw(); // nobody can end what is in the midst of a write to it
        node.kill();
      }
    }
  }
}
