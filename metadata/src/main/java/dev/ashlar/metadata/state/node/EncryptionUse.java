package dev.ashlar.metadata.state.node;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.message.BeginEncryption;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.ResultCode;
import java.util.List;

/**
 * The beginning of encryption in a store. Gateways of older builds would serve the stored bytes of
 * encrypted objects as they are. So the first encrypted write waits until there are none, and from
 * then on none can join.
 */
public final class EncryptionUse {
  private EncryptionUse() {}

  /**
   * Begins before anything is encrypted, so that a gateway knows that it is possible. Builds that
   * have an older version in use store some encrypted writes as if they understood them.
   */
  public static CommandResult begin(ApplyContext context, BeginEncryption command) {
    context.requireVersion(MetadataVersion.ENCRYPTS);
    requirePossible(context);
    begin(context);
    return ApplyContext.OK;
  }

  /** Refuses an encrypted write while a live gateway does not know encryption. */
  public static void requirePossible(ApplyContext context) {
    require(
        context.catalog().encrypts()
            || olderGateways(context).stream().allMatch(node -> Nodes.isSilent(context, node)),
        ResultCode.OLDER_GATEWAYS);
  }

  /**
   * Records an encrypted write that is possible. A silent gateway may have lived on behind a broken
   * network, and does not register again when it comes back. So its session ends, at which its
   * process exits, and it is refused when it registers.
   */
  public static void begin(ApplyContext context) {
    if (!context.catalog().encrypts()) {
      olderGateways(context).forEach(node -> context.sessions().end(context, node.getSession()));
      context.table().put(Keys.encryption(), new byte[0]);
      context.catalog().setEncrypts();
    }
  }

  private static List<NodeRow> olderGateways(ApplyContext context) {
    return context.table().rows('N', NodeRow.parser()).stream()
        .filter(EncryptionUse::isOlderGateway)
        .toList();
  }

  private static boolean isOlderGateway(NodeRow node) {
    return node.getGateway() && !node.getKnowsEncryption();
  }

  /** Refuses a gateway that does not know encryption once there are encrypted objects. */
  static void checkKnown(ApplyContext context, NodeRow node) {
    require(!isOlderGateway(node) || !context.catalog().encrypts(), ResultCode.INVALID_COMMAND);
  }
}
