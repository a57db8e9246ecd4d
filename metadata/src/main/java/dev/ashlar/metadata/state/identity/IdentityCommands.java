package dev.ashlar.metadata.state.identity;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.AccountStateRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DeleteIdentity;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PutIdentity;
import dev.ashlar.protocol.message.ResultCode;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Creates, changes and deletes users, groups, roles, managed policies and OIDC providers. A gateway
 * reads a row, changes it and writes it back with the revision that it has read. The rules that
 * concern several rows are checked here, because other gateways change them at the same time.
 */
public final class IdentityCommands {
  private IdentityCommands() {}

  public static CommandResult put(ApplyContext context, PutIdentity command) {
    require(context.version() >= MetadataVersion.IDENTITIES, ResultCode.INVALID_COMMAND);
    Overlay table = context.table();
    IdentityRow wanted = command.getIdentity();
    long account = account(table, wanted.getAccount());
    KindRules kind = IdentityRules.check(wanted);
    boolean isNew = command.getExpectedRevision() == 0;
    IdentityRow before =
        isNew
            ? checkedNew(table, account, kind, wanted)
            : checkedPresent(table, account, command.getExpectedRevision(), wanted);
    References.check(table, account, wanted);
    IdentityRow row = completed(context, before, wanted);
    IdentityRows.put(table, account, isNew ? null : before, row);
    References.update(table, account, before, row);
    AccountStateRow.Builder state = AccountRows.state(table, account).toBuilder();
    if (isNew) {
      kind.setCount(state, kind.count(state.buildPartial()) + 1);
    }
    AccountRows.putState(table, account, state.setRevision(context.freshId()));
    return context.written();
  }

  private static long account(Table table, String id) {
    AccountRow account = require(AccountRows.withId(table, id), ResultCode.NO_SUCH_ENTITY);
    return AccountRows.number(account.getId());
  }

  /** What an identity is before it exists. */
  private static IdentityRow checkedNew(
      Table table, long account, KindRules kind, IdentityRow wanted) {
    require(
        IdentityRows.named(table, account, kind.kind(), wanted.getName()).isEmpty(),
        ResultCode.ENTITY_ALREADY_EXISTS);
    // Ids are random: the sender has to choose another one.
    require(
        IdentityRows.withId(table, account, wanted.getId()).isEmpty(),
        ResultCode.CONDITIONAL_CONFLICT);
    require(
        kind.count(AccountRows.state(table, account)) < kind.perAccountMax(),
        ResultCode.LIMIT_EXCEEDED);
    return IdentityRow.getDefaultInstance();
  }

  /** The thin row to be replaced. */
  private static IdentityRow checkedPresent(
      Table table, long account, long revision, IdentityRow wanted) {
    IdentityRow present =
        require(IdentityRows.withId(table, account, wanted.getId()), ResultCode.NO_SUCH_ENTITY);
    require(present.getKind() == wanted.getKind(), ResultCode.INVALID_COMMAND);
    require(present.getRevision() == revision, ResultCode.CONDITIONAL_CONFLICT);
    require(present.getVersionsMade() <= wanted.getVersionsMade(), ResultCode.INVALID_COMMAND);
    require(
        IdentityRows.named(table, account, wanted.getKind(), wanted.getName())
            .map(IdentityRow::getId)
            .filter(id -> !id.equals(wanted.getId()))
            .isEmpty(),
        ResultCode.ENTITY_ALREADY_EXISTS);
    return present;
  }

  /** The row with what only apply knows. */
  private static IdentityRow completed(
      ApplyContext context, IdentityRow before, IdentityRow wanted) {
    boolean isNew = before.getId().isEmpty();
    Map<String, Long> createdAt =
        before.getDocumentsList().stream()
            .collect(Collectors.toMap(IdentityDocument::getName, IdentityDocument::getCreatedAtMs));
    IdentityRow.Builder row =
        wanted.toBuilder()
            .setCreatedAtMs(isNew ? context.timeMs() : before.getCreatedAtMs())
            .setChangedAtMs(context.timeMs())
            .setRevision(context.freshId())
            .setAttachments(before.getAttachments());
    row.getDocumentsBuilderList()
        .forEach(
            document ->
                document.setCreatedAtMs(
                    createdAt.getOrDefault(document.getName(), context.timeMs())));
    return row.build();
  }

  public static CommandResult delete(ApplyContext context, DeleteIdentity command) {
    require(context.version() >= MetadataVersion.IDENTITIES, ResultCode.INVALID_COMMAND);
    Overlay table = context.table();
    long account = account(table, command.getAccount());
    IdentityRow row =
        require(IdentityRows.withId(table, account, command.getId()), ResultCode.NO_SUCH_ENTITY);
    long expected = command.getExpectedRevision();
    require(expected == 0 || expected == row.getRevision(), ResultCode.CONDITIONAL_CONFLICT);
    References.checkUnused(table, account, row);
    IdentityRows.delete(table, account, row);
    KindRules kind = KindRules.known(row.getKind());
    AccountStateRow.Builder state = AccountRows.state(table, account).toBuilder();
    kind.setCount(state, kind.count(state.buildPartial()) - 1);
    AccountRows.putState(table, account, state.setRevision(context.freshId()));
    return context.written();
  }
}
