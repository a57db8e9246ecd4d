package dev.ashlar.server.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ashlar.gateway.minio.AdminInfoService.StoreInfo;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.config.BuildVersion;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The state of the store as MinIO's {@code GET /minio/admin/v3/info} tells its own. What MinIO has
 * and Ashlar does not is left out. MinIO's erasure sets are drives that share objects; here drives
 * share them in all combinations, so they are shown as sets of k+m drives of the default profile,
 * in their order.
 *
 * @param address of the S3 port of this process
 */
public record MinioInfo(Admin admin, UUID cluster, String region, String address)
    implements StoreInfo {
  private static final String REDUCED_REDUNDANCY = "REDUCED_REDUNDANCY";
  private static final JsonMapper JSON = new JsonMapper();

  @Override
  public byte[] json() throws MetadataUnavailableException {
    try {
      return JSON.writeValueAsBytes(page());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private ObjectNode page() throws MetadataUnavailableException {
    PlacementMap map = admin.quotas().metadata().placement();
    Profile profile = map.standard().profile();
    List<Admin.DriveInfo> drives =
        admin.drives().stream().filter(drive -> !drive.empty() || isIn(drive)).toList();
    List<Quotas.AccountUsage> usage = admin.quotas().accounts();
    ObjectNode page = JsonNodeFactory.instance.objectNode();
    page.put("mode", "online");
    page.put("region", region);
    page.put("deploymentID", cluster.toString());
    page.putObject("buckets").put("count", admin.quotas().metadata().buckets().size());
    page.putObject("objects")
        .put("count", usage.stream().mapToLong(Quotas.AccountUsage::objects).sum());
    page.putObject("usage").put("size", usage.stream().mapToLong(Quotas.AccountUsage::bytes).sum());
    page.putObject("services");
    page.set("backend", backend(map, drives));
    page.set("servers", servers(profile, drives));
    return page;
  }

  private static boolean isIn(Admin.DriveInfo drive) {
    return drive.standing().equals("in");
  }

  private static boolean isOnline(Admin.DriveInfo drive) {
    return drive.up() && !drive.failed() && !drive.absent();
  }

  private static ObjectNode backend(PlacementMap map, List<Admin.DriveInfo> drives) {
    Profile profile = map.standard().profile();
    PlacedProfile reduced = map.ofClass(REDUCED_REDUNDANCY).orElseGet(map::standard);
    int online = (int) drives.stream().filter(MinioInfo::isOnline).count();
    int width = profile.shards();
    ObjectNode backend = JsonNodeFactory.instance.objectNode();
    backend.put("backendType", "Erasure");
    backend.put("onlineDisks", online);
    backend.put("offlineDisks", drives.size() - online);
    backend.put("standardSCParity", profile.parityShards());
    backend.put("rrSCParity", reduced.profile().parityShards());
    backend.putArray("totalSets").add(Math.ceilDiv(drives.size(), width));
    backend.putArray("totalDrivesPerSet").add(width);
    return backend;
  }

  /** Gateways and storage nodes; the whole store in one process is one server. */
  private ArrayNode servers(Profile profile, List<Admin.DriveInfo> drives)
      throws MetadataUnavailableException {
    Map<String, ObjectNode> byNode = new LinkedHashMap<>();
    for (Admin.NodeInfo node : admin.nodes()) {
      byNode.put(node.name(), server(node.address(), node.up()));
    }
    for (int i = 0; i < drives.size(); i++) {
      Admin.DriveInfo drive = drives.get(i);
      ObjectNode server = byNode.computeIfAbsent(drive.node(), node -> thisProcess());
      server.withArray("drives").add(drive(drive, i, profile.shards()));
    }
    ArrayNode servers = JsonNodeFactory.instance.arrayNode();
    byNode.values().forEach(servers::add);
    return servers;
  }

  private ObjectNode thisProcess() {
    return server(address, true)
        .put("uptime", ManagementFactory.getRuntimeMXBean().getUptime() / 1000);
  }

  private static ObjectNode server(String endpoint, boolean isUp) {
    ObjectNode server = JsonNodeFactory.instance.objectNode();
    server.put("state", isUp ? "online" : "offline");
    server.put("endpoint", endpoint);
    server.put("version", BuildVersion.number().orElse("unpacked classes"));
    server.put("poolNumber", 1);
    server.putArray("drives");
    return server;
  }

  private static ObjectNode drive(Admin.DriveInfo drive, int place, int width) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("endpoint", drive.folder() == null ? drive.id() : drive.folder());
    node.put("uuid", drive.id());
    node.put("state", isOnline(drive) ? "ok" : "offline");
    if (drive.usedBytes() != null && drive.freeBytes() != null) {
      node.put("totalspace", drive.usedBytes() + drive.freeBytes());
      node.put("usedspace", drive.usedBytes().longValue());
      node.put("availspace", drive.freeBytes().longValue());
    }
    node.put("pool_index", 0);
    node.put("set_index", place / width);
    node.put("disk_index", place % width);
    return node;
  }
}
