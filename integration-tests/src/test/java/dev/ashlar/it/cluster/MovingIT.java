package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.Seeds;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Nodes are drained, added, replaced and taken out while a client writes and reads. */
class MovingIT {
  private static final List<String> SHAPE =
      List.of("--nodes", "4", "--metadata", "1", "--gateways", "1", "--profile", "2+1");
  private static final int OBJECTS = 20;

  private final long seed = Seeds.seed("MovingIT");

  @LongTest
  void noObjectIsWithoutAShardBecauseItMoves() throws Exception {
    try (ClusterProcess cluster = ClusterProcess.start("moving", SHAPE)) {
      AdminPages admin = new AdminPages(cluster.nodes());
      KnownObjects objects = new KnownObjects(cluster.nodes(), seed);
      cluster.nodes().node("gateway-1").restartWith("out-after=2");
      admin.awaitWhole();
      try (ChangeClient s3 = objects.client()) {
        objects.make(s3, OBJECTS);
        objects.underLoad(
            () -> {
              admin.require("drain?target=storage-1");
              admin.await("drives", page -> AdminPages.isEmpty(page, "storage-1"), "drained");
            });
        cluster.nodes().node("storage-1").kill();
        objects.check(s3);
        Process added = add(cluster);
        try {
          awaitShare(admin);
          admin.await("rebalance", AdminPages::isDone, "the new node's share");
          cluster.nodes().node("storage-2").kill();
          objects.check(s3);
          admin.await(
              "drives", page -> AdminPages.standing(page, "storage-2").equals("out"), "out");
          cluster.nodes().awaitNothingOwed();
          cluster.nodes().node("storage-3").kill();
          objects.check(s3);
        } finally {
          added.destroyForcibly();
        }
      }
    }
  }

  @Test
  void aNodeIsReplacedByAnotherWhileItIsUsed() throws Exception {
    try (ClusterProcess cluster = ClusterProcess.start("replacing", SHAPE)) {
      AdminPages admin = new AdminPages(cluster.nodes());
      KnownObjects objects = new KnownObjects(cluster.nodes(), seed);
      try (ChangeClient s3 = objects.client()) {
        objects.make(s3, OBJECTS);
        Process added = add(cluster);
        try {
          awaitShare(admin);
          objects.underLoad(() -> replace(admin));
          cluster.nodes().node("storage-1").kill();
          objects.check(s3);
          cluster.nodes().node("storage-3").kill();
          objects.check(s3);
        } finally {
          added.destroyForcibly();
        }
      }
    }
  }

  /** By the command, which goes on until the old node has nothing any more. */
  private static void replace(AdminPages admin) throws Exception {
    Launch.Ended ended =
        Launch.ended(
            log ->
                Launch.start(
                    List.of(
                        "admin",
                        "drive",
                        "replace",
                        "storage-1",
                        "storage-9",
                        "--watch",
                        "--management",
                        admin.address("").getAuthority()),
                    Map.of(),
                    log));
    assertEquals(0, ended.code(), ended.output());
    admin.await(
        "drives",
        page ->
            AdminPages.isEmpty(page, "storage-1")
                && AdminPages.standing(page, "storage-1").equals("draining"),
        "replaced");
    admin.await(
        "drives",
        page -> {
          long share = AdminPages.slots(page, "storage-9");
          return share > 0 && AdminPages.slots(page, "storage-1") == 0;
        },
        "the slots of the old one");
    admin.awaitWhole();
  }

  private static void awaitShare(AdminPages admin) throws Exception {
    admin.await(
        "drives", page -> AdminPages.slots(page, "storage-9") > 0, "a share for the new one");
  }

  private static Process add(ClusterProcess cluster) throws IOException {
    NodeProcess like = cluster.nodes().node("storage-2");
    Path folder = cluster.nodes().folder();
    assertTrue(like.isAlive());
    return cluster.add(
        like, "storage-9", Map.of(), List.of("--data", folder.resolve("added").toString()));
  }
}
