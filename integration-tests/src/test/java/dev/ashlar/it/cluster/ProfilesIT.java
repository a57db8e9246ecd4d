package dev.ashlar.it.cluster;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Seeds;
import java.util.List;

/** A cluster of 2+1 gets a profile of 1+2, which becomes the default, while clients write. */
class ProfilesIT {
  private static final List<String> SHAPE =
      List.of("--nodes", "4", "--metadata", "1", "--gateways", "2", "--profile", "2+1");
  private static final int OBJECTS = 20;

  private final long seed = Seeds.seed("ProfilesIT");

  @LongTest
  void dataOfBothProfilesIsServedRepairedAndMoved() throws Exception {
    try (ClusterProcess cluster = ClusterProcess.start("profiles", SHAPE)) {
      AdminPages admin = new AdminPages(cluster.nodes());
      KnownObjects objects = new KnownObjects(cluster.nodes(), seed);
      try (ChangeClient s3 = objects.client()) {
        objects.make(s3, OBJECTS);
        objects.underLoad(
            List.of(1, 2),
            () -> {
              admin.require("profile-add?target=HOT&by=1%2B2");
              admin.require("profile-default?target=HOT");
              for (int i = 0; i < OBJECTS; i++) {
                objects.put(s3, "hot-" + i, 1 + i * 30_000);
              }
            });
        admin.await(
            "profiles",
            page ->
                page.contains(
                    "\"name\":\"HOT\",\"profile\":\"1+2\",\"stripeUnit\":16384,"
                        + "\"standard\":true"),
            "the default");
        cluster.nodes().node("storage-2").kill();
        objects.check(s3);
        objects.put(s3, "with-a-debt", 100_000);
        cluster.nodes().node("storage-2").start();
        admin.awaitWhole();
        objects.underLoad(
            List.of(1, 2),
            () -> {
              admin.require("drain?target=storage-1");
              admin.await("drives", page -> AdminPages.isEmpty(page, "storage-1"), "drained");
            });
        cluster.nodes().node("storage-1").kill();
        objects.check(s3);
      }
      cluster.nodes().node("gateway-1").stop();
      cluster.nodes().node("gateway-1").start();
      cluster.nodes().node("gateway-1").awaitHealth(page -> !page.contains("\"DOWN\""));
      try (ChangeClient s3 = objects.client()) {
        objects.check(s3);
      }
    }
  }
}
