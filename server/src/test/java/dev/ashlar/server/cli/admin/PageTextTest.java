package dev.ashlar.server.cli.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.junit.jupiter.api.Test;

class PageTextTest {
  private static final String HEALTHY =
      """
      {"epoch":12,"profile":"4+2","failureDomain":"node","placementGroups":2048,
       "drives":{"total":6,"in":6,"draining":0,"out":0,"down":0,"failed":0},
       "space":{"usedBytes":1073741824,"freeBytes":3221225472,"liveBytes":536870912,
         "fullestPercent":27},
       "failureTolerance":{"drives":2,"nodes":2},
       "risk":{"known":true,"allReadable":true,"atRiskBlobs":0,"unreadableBlobs":0,
         "atRiskGroups":0,"unreadableGroups":0,"uncountedDrives":0},
       "protection":{"known":true,"debtBlobs":0,"debtBytes":0,"movingBlobs":0,"movingBytes":0,
         "levels":[]},
       "rebalance":{"paused":false,"known":true,"blobs":0,"bytes":0,"draining":[],"drained":[],
         "coming":[]}}
      """;

  private static List<String> lines(String page, String json) throws Exception {
    return PageText.of(page, new Rates()).apply(new ObjectMapper().readTree(json));
  }

  @Test
  void statusOfHealthyStore() throws Exception {
    assertEquals(
        List.of(
            "State        OK",
            "Survives     the loss of any 2 more drives or 2 more nodes",
            "Drives       6: 6 in, 0 draining, 0 out",
            "Space        1.0 GiB used, 3.0 GiB free, fullest drive 27 %; 512.0 MiB live",
            "Repair       nothing to do",
            "Rebalance    nothing to move",
            "Placement    epoch 12, profile 4+2, 2,048 placement groups, failure domain: node"),
        lines("status", HEALTHY));
  }

  @Test
  void statusOfSeveralProfilesIsATable() throws Exception {
    String json =
        HEALTHY.replace(
            "\"drives\":{\"total\"",
            """
            "profiles":[{"name":"FIRST","profile":"4+2","stripeUnit":16384,"standard":false,
                "failureDomain":"node","placementGroups":2048},
              {"name":"COLD","profile":"8+3","stripeUnit":65536,"standard":true,
                "failureDomain":"drive","placementGroups":256}],
            "drives":{"total\"""");
    List<String> lines = lines("status", json);
    assertEquals(
        List.of(
            "Placement    epoch 12",
            "",
            "PROFILE  SHARDS  STRIPE UNIT  DEFAULT  GROUPS  FAILURE DOMAIN",
            "FIRST    4+2        16.0 KiB             2048  node",
            "COLD     8+3        64.0 KiB  yes         256  drive"),
        lines.subList(lines.size() - 5, lines.size()));
  }

  @Test
  void movesShowHowFarTheyAre() throws Exception {
    String json =
        """
        [{"id":3,"source":"s3://b/l/","to":"COLD","state":"running","reason":"",
          "foundBytes":2097152,"passedBytes":524288,"movedVersions":4,"movedBytes":524288,
          "failedVersions":1,"bytesPerSecond":1048576,"secondsLeft":90},
         {"id":4,"source":"s3://b/","to":"STANDARD","state":"stopped","reason":"by an operator",
          "foundBytes":0,"passedBytes":0,"movedVersions":0,"movedBytes":0,"failedVersions":0,
          "bytesPerSecond":null,"secondsLeft":null}]""";
    assertEquals(
        List.of(
            "ID  TO        STATE                        MOVED  VERSIONS  FAILED       PACE        LEFT  OF",
            " 3  COLD      running, 25 %            512.0 KiB         4       1  1.0 MiB/s  1 min 30 s  s3://b/l/",
            " 4  STANDARD  stopped: by an operator        0 B         0                                 s3://b/"),
        lines("profile-moves", json));
  }

  @Test
  void lifecycleScansShowWhatTheyHaveDone() throws Exception {
    String json =
        """
        [{"bucket":"logs","state":"done","key":"","versions":1000,"expired":12,"noncurrent":3,
          "markers":1,"uploads":2,"moved":40,"movedBytes":4000,"changed":1,"locked":5,"failed":6,
          "beganMs":1700000000123,"endedMs":1700000060999},
         {"bucket":"new","state":"waiting","key":"","versions":0,"expired":0,"noncurrent":0,
          "markers":0,"uploads":0,"moved":0,"movedBytes":0,"changed":0,"locked":0,"failed":0,
          "beganMs":0,"endedMs":0}]""";
    List<String> lines = lines("lifecycle", json);
    assertEquals(3, lines.size());
    assertEquals(
        "done 2023-11-14T22:14:20Z 1000 12 4 2 40 5 6 logs",
        lines.get(1).trim().replaceAll(" +", " "));
    assertEquals("waiting 0 new", lines.get(2).trim().replaceAll(" +", " "));
  }

  @Test
  void eventsShowTheirTargets() throws Exception {
    String json =
        """
        {"waiting":12,"lost":3,"oldestMs":1700000060999,"delivering":true,"targets":[
          {"arn":"arn:x:sqs::a:kafka","state":"down","pending":9,"sent":100,"failed":16,
           "lastError":"no answer in 30 s","secondsSinceError":90},
          {"arn":"arn:x:sqs::b:webhook","state":"up","pending":0,"sent":0,"failed":0,
           "lastError":"","secondsSinceError":0}],
         "unknown":3,"unknownTargets":["arn:x:sqs::gone:nats"]}""";
    List<String> lines =
        lines("events", json).stream().map(line -> line.trim().replaceAll(" +", " ")).toList();
    assertEquals(
        List.of(
            "waiting: 12, the oldest from 2023-11-14T22:14:20Z",
            "lost: 3",
            "of targets that are not configured: 3, such as arn:x:sqs::gone:nats",
            "TARGET STATE PENDING SENT FAILED LAST LAST ERROR",
            "arn:x:sqs::a:kafka down 9 100 16 1 min 30 s no answer in 30 s",
            "arn:x:sqs::b:webhook up 0"),
        lines);
    assertEquals(
        List.of("waiting: 0", "lost: 0", "another gateway delivers, and knows how the targets are"),
        lines(
            "events",
            """
            {"waiting":0,"lost":0,"oldestMs":0,"delivering":false,"targets":[],"unknown":0,
             "unknownTargets":[]}"""));
  }

  @Test
  void configSaysWhereEachValueComesFrom() throws Exception {
    assertEquals(
        List.of(
            "SETTING   VALUE   FROM",
            "heap      384MiB  derived",
            "--region  eu-1    MINIO_REGION in the environment"),
        lines(
            "config",
            """
            [{"name":"heap","value":"384MiB","from":"derived"},
             {"name":"--region","value":"eu-1","from":"MINIO_REGION in the environment"}]
            """));
  }

  @Test
  void statusStartsWithProblems() throws Exception {
    String json =
        HEALTHY
            .replace("\"down\":0", "\"down\":1")
            .replace("\"debtBlobs\":0,\"debtBytes\":0", "\"debtBlobs\":1204,\"debtBytes\":4096")
            .replace("\"levels\":[]", "\"levels\":[{\"spare\":0,\"blobs\":1204,\"bytes\":4096}]");
    List<String> lines = lines("status", json);
    assertEquals(
        List.of(
            "State        DEGRADED",
            "Problems     1 drive down",
            "             1,204 blobs with debts: missing shards"),
        lines.subList(0, 3));
    assertTrue(lines.contains("Repair       1,204 blobs, 4.0 KiB to rebuild"), lines::toString);
    assertTrue(lines.contains("             1,204 blobs can lose no more shards"), lines::toString);
    String unreadable = HEALTHY.replace("\"unreadableBlobs\":0", "\"unreadableBlobs\":3");
    assertEquals("State        CRITICAL", lines("status", unreadable).getFirst());
  }

  @Test
  void drivesHaveShortIdsAndFolders() throws Exception {
    String row =
        """
        {"id":"%s","node":"","standing":"in","up":true,"absent":false,"failed":false,
         "usedBytes":1048576,"usedPercent":1,"freeBytes":104857600,"slots":60,"shardsToMove":0,
         "bytesToMove":0,"counted":true,"empty":false,"folder":"/mnt/d1"}
        """;
    assertEquals(
        List.of(
            "DRIVE      STATE     USED       FREE  FULL  SLOTS  TO MOVE  FOLDER",
            "0000000a1  in     1.0 MiB  100.0 MiB   1 %     60        -  /mnt/d1",
            "0000000a2  in     1.0 MiB  100.0 MiB   1 %     60        -  /mnt/d1"),
        lines(
            "drives",
            "[" + row.formatted("0000000a1-x") + "," + row.formatted("0000000a2-y") + "]"));
  }

  @Test
  void tablesFitHundredColumns() throws Exception {
    String drives = "\"0123456789abcdef\",".repeat(20) + "\"end\"";
    String json =
        "[{\"group\":7,\"drives\":["
            + drives
            + "],\"up\":6,\"moved\":0,\"debtBlobs\":0,"
            + "\"debtShards\":0,\"debtBytes\":0,\"debtSeconds\":0,\"counted\":true}]";
    for (String line : lines("pgs", json)) {
      assertTrue(line.length() <= 100, line);
    }
    assertEquals(List.of("none"), lines("nodes", "[]"));
    String ids = "\"00000000-0000-0000-0000-000000000001\",".repeat(4) + "\"end\"";
    List<String> rebalance = lines("rebalance", "{\"blobs\":2,\"draining\":[" + ids + "]}");
    assertEquals("blobs            2", rebalance.getFirst());
    assertEquals(3, rebalance.size(), rebalance::toString);
    for (String line : rebalance) {
      assertTrue(line.length() <= 100, line);
    }
  }

  @Test
  void scrubsOfLargeDrivesFit() throws Exception {
    String row =
        """
        {"drive":"00000000-0000-0000-0000-00000000000%d","percent":100,"bytesPerSecond":0,
         "secondsLeft":null,"deep":{"running":false,"finishedMs":1764093210000,
         "verifiedBytes":8246337208320,"damagedBlocks":123456}}
        """;
    List<String> lines =
        lines("scrub", "{\"drives\":[" + row.formatted(1) + "," + row.formatted(2) + "]}");
    for (String line : lines) {
      assertTrue(line.length() <= 100, line);
    }
  }

  @Test
  void rowsWithinPagesAreIndented() throws Exception {
    assertEquals(
        List.of(
            "known            true",
            "debtBytes        1.0 KiB",
            "levels",
            "  spare 1, blobs 2, bytes 1.0 KiB",
            "draining         -"),
        lines(
            "repair",
            """
            {"known":true,"debtBytes":1024,"levels":[{"spare":1,"blobs":2,"bytes":1024}],
             "draining":[]}
            """));
  }
}
