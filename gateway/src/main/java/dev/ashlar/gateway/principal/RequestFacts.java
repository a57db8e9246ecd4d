package dev.ashlar.gateway.principal;

import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.protocol.message.IdentityTag;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The values of condition keys that are known of every request.
 *
 * @param caller null: anonymous
 * @param special values of keys, in lower case, that only this action has
 */
public record RequestFacts(
    @Nullable Principal caller, ConnectionFacts connection, Map<String, List<String>> special)
    implements ConditionContext {
  private static final String PRINCIPAL_TAG = "aws:principaltag/";

  @Override
  public List<String> values(String key) {
    List<String> ofAction = special.get(key);
    if (ofAction != null) {
      return ofAction;
    }
    List<String> ofCaller = caller == null ? ofAnonymous(key) : ofPrincipal(key, caller);
    return ofCaller.isEmpty() ? connection.values(key) : ofCaller;
  }

  private static List<String> ofAnonymous(String key) {
    return switch (key) {
      case "aws:viaawsservice" -> List.of("false");
      case "aws:principaltype" -> List.of("Anonymous");
      case "aws:userid" -> List.of("anonymous");
      default -> List.of();
    };
  }

  private static List<String> ofPrincipal(String key, Principal caller) {
    if (key.startsWith(PRINCIPAL_TAG)) {
      return tag(key.substring(PRINCIPAL_TAG.length()), caller);
    }
    return switch (key) {
      case "aws:principalarn" ->
          List.of(
              caller.requester() instanceof Requester.RoleSession role
                  ? role.roleArn()
                  : caller.arn());
      case "aws:viaawsservice", "aws:principalisawsservice" -> List.of("false");
      case "aws:principalaccount" -> List.of(caller.accountId());
      case "aws:principaltype" -> List.of(principalType(caller));
      case "aws:userid" -> List.of(caller.userId());
      case "aws:username" ->
          caller.requester() instanceof Requester.User user ? List.of(user.name()) : List.of();
      case "aws:multifactorauthpresent" -> caller.session() == null ? List.of() : List.of("false");
      case "aws:tokenissuetime" ->
          caller.session() == null ? List.of() : List.of(caller.session().issuedAt().toString());
      default -> List.of();
    };
  }

  private static String principalType(Principal caller) {
    return switch (caller.requester()) {
      case Requester.Root root -> "Account";
      case Requester.User user -> "User";
      case Requester.RoleSession role -> "AssumedRole";
    };
  }

  /** A tag of the session, else of the user or role. */
  private static List<String> tag(String key, Principal caller) {
    Session session = caller.session();
    Stream<IdentityTag> tags =
        Stream.concat(
            session == null ? Stream.empty() : session.tags().stream(),
            caller.identity() == null ? Stream.empty() : caller.identity().getTagsList().stream());
    return tags.filter(tag -> tag.getKey().toLowerCase(Locale.ROOT).equals(key))
        .limit(1)
        .map(IdentityTag::getValue)
        .toList();
  }
}
