package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.DisplayNames;
import dev.ashlar.gateway.operation.shared.ListingDocument;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.S3Request.Listing;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.VersionsPage;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.VersionEntry;

/** Lists the versions and delete markers of a bucket, the newest of a key first. */
public record ListObjectVersionsHandler(Backend backend) {
  public HttpAnswer handle(S3Request.ListObjectVersions request, Permit permit)
      throws MetadataUnavailableException {
    Listing listing = request.listing();
    VersionsPage page =
        backend
            .metadata()
            .versions(
                new VersionsQuery(
                    listing.bucket(),
                    listing.prefix(),
                    listing.delimiter(),
                    request.keyMarker(),
                    request.versionMarker(),
                    listing.max()));
    ListingDocument document = new ListingDocument("ListVersionsResult", listing);
    XmlWriter xml = document.xml();
    xml.element("Name", listing.bucket());
    document.name("Prefix", listing.prefix()).name("KeyMarker", request.keyMarker());
    xml.element("VersionIdMarker", request.versionIdMarker());
    if (page.truncated()) {
      next(document, page.entries().getLast(), permit.bucket());
    }
    document.parameters("MaxKeys", page.truncated());
    DisplayNames names = new DisplayNames(backend, permit.caller());
    for (VersionEntry entry : page.entries()) {
      if (!isCommonPrefix(entry)) {
        String owner = owner(entry, permit.bucket());
        version(document, entry);
        xml.person("Owner", owner, names.of(owner)).close();
      }
    }
    for (VersionEntry entry : page.entries()) {
      if (isCommonPrefix(entry)) {
        document.commonPrefix(entry.getName());
      }
    }
    return Answers.xml(xml.close());
  }

  private static boolean isCommonPrefix(VersionEntry entry) {
    return entry.getVersion() == 0;
  }

  /**
   * Where the next page begins. With versioning this names a null version by its position, too: the
   * client may delete what it was listed, and {@code null} would then name no place any more.
   */
  private static void next(ListingDocument document, VersionEntry last, BucketRow bucket) {
    document.name("NextKeyMarker", last.getName());
    if (!isCommonPrefix(last)) {
      document
          .xml()
          .element(
              "NextVersionIdMarker", VersionId.of(last.getVersion(), VersionId.areKept(bucket)));
    }
  }

  private static String owner(VersionEntry entry, BucketRow bucket) {
    return entry.getDeleteMarker() ? bucket.getOwner() : entry.getSummary().getOwner();
  }

  /** Opens the element of a version. */
  private static void version(ListingDocument document, VersionEntry entry) {
    XmlWriter xml = document.xml();
    if (entry.getDeleteMarker()) {
      xml.open("DeleteMarker");
      document.name("Key", entry.getName());
      xml.element("LastModified", S3Dates.xml(entry.getSummary().getLastModifiedMs()));
    } else {
      xml.open("Version");
      document.object(entry.getName(), entry.getSummary());
    }
    xml.element("VersionId", VersionId.of(entry)).element("IsLatest", entry.getLatest());
  }
}
