package dev.ashlar.metadata.state.identity;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.table.IdentityKeys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.ResultCode;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * References between identities: the groups of a user, the policies attached to a user, group or
 * role. The referring row names ids; indexes answer the other direction. What is referred to cannot
 * be deleted.
 */
final class References {
  private References() {}

  /** Refuses a row that refers to a group or policy that does not exist. */
  static void check(Table table, long account, IdentityRow row) {
    for (String group : row.getGroupsList()) {
      require(
          IdentityRows.exists(table, account, KindRules.GROUP, group), ResultCode.NO_SUCH_ENTITY);
    }
    for (String policy : row.getAttachedPoliciesList()) {
      require(
          IdentityRows.exists(table, account, KindRules.POLICY, policy), ResultCode.NO_SUCH_ENTITY);
    }
  }

  /**
   * Brings the indexes and the counts of attachments up to date.
   *
   * @param before the row before; without references if there was none
   */
  static void update(Overlay table, long account, IdentityRow before, IdentityRow after) {
    String id = after.getId();
    byte[] idBytes = id.getBytes(StandardCharsets.UTF_8);
    for (String group : without(before.getGroupsList(), after.getGroupsList())) {
      table.delete(IdentityKeys.member(account, group, id));
    }
    for (String group : without(after.getGroupsList(), before.getGroupsList())) {
      table.put(IdentityKeys.member(account, group, id), idBytes);
    }
    char kind = KindRules.known(after.getKind()).letter();
    List<String> policiesBefore = before.getAttachedPoliciesList();
    List<String> policies = after.getAttachedPoliciesList();
    for (String policy : without(policiesBefore, policies)) {
      table.delete(IdentityKeys.attachment(account, policy, kind, id));
      count(table, account, policy, -1);
    }
    for (String policy : without(policies, policiesBefore)) {
      table.put(IdentityKeys.attachment(account, policy, kind, id), idBytes);
      count(table, account, policy, 1);
    }
  }

  private static List<String> without(List<String> all, List<String> some) {
    return all.stream().filter(value -> !some.contains(value)).toList();
  }

  /** Does not change the policy's revision, so that attaching does not disturb its editors. */
  private static void count(Overlay table, long account, String policyId, int change) {
    IdentityRow policy =
        IdentityRows.withId(table, account, policyId)
            .orElseThrow(() -> new IllegalStateException("no attached policy " + policyId));
    IdentityRow counted =
        policy.toBuilder().setAttachments(policy.getAttachments() + change).build();
    IdentityRows.putThin(table, account, counted);
  }

  /** Refuses to delete what refers to something, is referred to, or has inline policies or keys. */
  static void checkUnused(Table table, long account, IdentityRow row) {
    boolean isPolicy = row.getKind() == KindRules.POLICY.kind();
    boolean isUsed =
        row.getGroupsCount() > 0
            || row.getAttachedPoliciesCount() > 0
            || row.getBuiltInPoliciesCount() > 0
            || row.getAttachments() > 0
            || row.getDocumentsCount() > (isPolicy ? 1 : 0)
            || hasAny(table, IdentityKeys.members(account, row.getId()))
            || hasAny(table, IdentityKeys.accessKeys(account, row.getId()));
    require(!isUsed, ResultCode.DELETE_CONFLICT);
  }

  private static boolean hasAny(Table table, byte[] prefix) {
    try (Table.Cursor cursor = table.cursor(prefix)) {
      return cursor.isValid();
    }
  }
}
