package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.PowerCutFolders;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import dev.ashlar.protocol.fault.PowerCutFileSystem;
import dev.ashlar.protocol.fault.PowerCutFileSystem.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Clients change objects in every way while the power of the server's file systems is cut, below
 * drives, indexes and metadata as they are: every change is there whole or not at all, those
 * acknowledged are there, and all is repaired. {@code -Dashlar.power.minutes} says how long at
 * least, all layouts together, and has more of them.
 */
class PowerCutIT {
  private static final int MINUTES = Integer.getInteger("ashlar.power.minutes", 0);
  private static final int CUTS = 1;
  private static final int LAYOUTS = 4;

  private static final long SHARED_BYTES = 6L << 30;
  private static final long OWN_BYTES = 1L << 30;
  private static final List<String> SHARED = List.of("");
  private static final List<String> OWN =
      List.of("d1", "d2", "d3", "d4", "d5", "d6", "m1", "m2", "m3");

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("PowerCutIT"));

  @Test
  void oneExt4() throws Exception {
    cut(Kind.EXT4, SHARED, SHARED_BYTES);
  }

  @LongTest
  void anXfsForEachFolder() throws Exception {
    cut(Kind.XFS, OWN, OWN_BYTES);
  }

  @Test
  @EnabledIfSystemProperty(named = "ashlar.power.minutes", matches = "[1-9]\\d*")
  void oneXfs() throws Exception {
    cut(Kind.XFS, SHARED, SHARED_BYTES);
  }

  @Test
  @EnabledIfSystemProperty(named = "ashlar.power.minutes", matches = "[1-9]\\d*")
  void anExt4ForEachFolder() throws Exception {
    cut(Kind.EXT4, OWN, OWN_BYTES);
  }

  private void cut(Kind kind, List<String> mountPoints, long bytes) throws Exception {
    Optional<String> unavailable = PowerCutFileSystem.unavailable(kind);
    assumeTrue(unavailable.isEmpty(), unavailable.orElse(""));
    String name = "power-" + kind.name().toLowerCase(Locale.ROOT) + "-" + mountPoints.size();
    ServerSpec spec = ServerSpec.named(name).withMetadataFolders(mountPoints == OWN ? 3 : 1);
    Instant end = Instant.now().plus(Duration.ofMinutes(MINUTES).dividedBy(LAYOUTS));
    try (PowerCutFolders folders = new PowerCutFolders(name, kind, mountPoints, bytes);
        ServerProcess server = ServerProcess.startIn(folders.root(), spec)) {
      ChangeWorkload workload =
          new ChangeWorkload(server, bucket(server), ChangeWorkload.Refusals.ALL);
      workload.putFirst();
      int cuts = 0;
      Map<String, byte[]> objects = Map.of();
      while (cuts < CUTS || Instant.now().isBefore(end)) {
        workload.shorten();
        boolean isTogether = cuts++ % 2 > 0;
        CrashRound.workUntil(workload, random, () -> cutAndKill(folders, server, isTogether));
        folders.remount();
        server.start();
        objects = workload.checkAll(random);
      }
      System.out.println(
          "%s: %d cuts, %d acknowledged, %s"
              .formatted(name, cuts, workload.acknowledgements(), workload.answers()));
      CrashRound.awaitFolded(server);
      CrashRound.awaitNothingOwed(server);
      workload.compare(objects, "repaired");
    }
  }

  private void cutAndKill(PowerCutFolders folders, ServerProcess server, boolean isTogether)
      throws Exception {
    if (isTogether) {
      folders.cutTogether(server);
    } else {
      folders.cutOneByOne(server, random);
    }
    ServerProcess.pause(Duration.ofMillis(random.nextInt(200)));
    server.kill();
  }

  private static String bucket(ServerProcess server) {
    try (S3Client s3 = Clients.sync(server)) {
      return Buckets.create(s3, "changes");
    }
  }
}
