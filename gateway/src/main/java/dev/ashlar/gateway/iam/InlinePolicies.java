package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Policies that are part of one user, group or role. */
final class InlinePolicies {
  private InlinePolicies() {}

  static Map<String, Action> actions() {
    Map<String, Action> all = new HashMap<>();
    for (Entity entity : List.of(Entity.USER, Entity.GROUP, Entity.ROLE)) {
      String title = entity.title();
      Action.Target target = Action.of(entity);
      all.put("Put" + title + "Policy", new Action(target, InlinePolicies::put));
      all.put("Get" + title + "Policy", new Action(target, InlinePolicies::get));
      all.put("Delete" + title + "Policy", new Action(target, InlinePolicies::delete));
      all.put("List" + title + "Policies", new Action(target, InlinePolicies::list));
    }
    return all;
  }

  private static void put(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    IdentityRow row = subject.row();
    int charsMax = Entity.of(row.getKind()).policyCharsMax();
    String name = Names.inlineName(call.parameters());
    String text =
        Documents.checked(
            call.parameters().required("PolicyDocument"), PolicyKind.identity(charsMax));
    IdentityDocument document = IdentityDocument.newBuilder().setName(name).setText(text).build();
    call.directory()
        .change(
            row,
            changed -> {
              List<IdentityDocument> others = without(changed, name);
              long chars =
                  others.stream().mapToLong(other -> counted(other.getText())).sum()
                      + counted(text);
              if (chars > charsMax) {
                throw new QueryException(
                    QueryError.LIMIT_EXCEEDED,
                    "Maximum policy size of "
                        + charsMax
                        + " bytes exceeded for "
                        + Entity.of(row.getKind()).noun()
                        + " "
                        + row.getName());
              }
              changed.clearDocuments().addAllDocuments(others).addDocuments(document);
            });
  }

  private static long counted(String text) {
    return text.chars().filter(c -> !Character.isWhitespace(c)).count();
  }

  private static List<IdentityDocument> without(IdentityRow.Builder row, String name) {
    return row.getDocumentsList().stream()
        .filter(document -> !document.getName().equals(name))
        .toList();
  }

  private static void get(IamCall call, Subject subject) throws QueryException {
    IdentityRow row = subject.row();
    Entity entity = Entity.of(row.getKind());
    String name = Names.inlineName(call.parameters());
    IdentityDocument document =
        row.getDocumentsList().stream()
            .filter(candidate -> candidate.getName().equals(name))
            .findFirst()
            .orElseThrow(() -> absent(entity, name));
    call.out()
        .element(entity.nameParameter(), row.getName())
        .element("PolicyName", name)
        .element("PolicyDocument", Rows.document(document.getText()));
  }

  private static void delete(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    IdentityRow row = subject.row();
    String name = Names.inlineName(call.parameters());
    call.directory()
        .change(
            row,
            changed -> {
              List<IdentityDocument> left = without(changed, name);
              if (left.size() == changed.getDocumentsCount()) {
                throw absent(Entity.of(row.getKind()), name);
              }
              changed.clearDocuments().addAllDocuments(left);
            });
  }

  private static QueryException absent(Entity entity, String name) {
    return new QueryException(
        QueryError.NO_SUCH_ENTITY,
        "The " + entity.noun() + " policy with name " + name + " cannot be found.");
  }

  private static void list(IamCall call, Subject subject) throws QueryException {
    Paging.of(call.parameters())
        .write(
            call.out(),
            "PolicyNames",
            subject.row().getDocumentsList(),
            IdentityDocument::getName,
            (out, document) -> out.element("member", document.getName()));
  }
}
