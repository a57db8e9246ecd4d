package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.DisplayNames;
import dev.ashlar.gateway.operation.shared.ListingDocument;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.S3Request.Listing;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.ListPage;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.MetadataUnavailableException;

/** ListObjects and ListObjectsV2. */
public record ListObjectsHandler(Backend backend, DisplayNames names) {
  public ListObjectsHandler(Backend backend, Caller caller) {
    this(backend, new DisplayNames(backend, caller));
  }

  public HttpAnswer handle(S3Request.ListObjects request)
      throws S3Exception, MetadataUnavailableException {
    Listing listing = request.listing();
    ListPage page = page(listing, request.marker());
    ListingDocument document = new ListingDocument("ListBucketResult", listing);
    document.xml().element("Name", listing.bucket());
    document.echoedPrefix().name("Marker", request.marker());
    // Without a delimiter clients continue after the last key, and S3 sends no NextMarker.
    if (page.truncated() && !listing.delimiter().isEmpty()) {
      document.name("NextMarker", lastName(page));
    }
    document.parameters("MaxKeys", page.truncated());
    contents(document, page, true);
    return Answers.xml(document.commonPrefixes(page).xml().close());
  }

  public HttpAnswer handle(S3Request.ListObjectsV2 request)
      throws S3Exception, MetadataUnavailableException {
    Listing listing = request.listing();
    String token = request.continuationToken();
    String after =
        token == null || token.isEmpty() ? request.startAfter() : ContinuationToken.decode(token);
    ListPage page = page(listing, after);
    ListingDocument document = new ListingDocument("ListBucketResult", listing);
    XmlWriter xml = document.xml();
    xml.element("Name", listing.bucket());
    document.name("Prefix", listing.prefix()).optionalName("StartAfter", request.startAfter());
    xml.optional("ContinuationToken", token);
    if (page.truncated()) {
      xml.element("NextContinuationToken", ContinuationToken.encode(lastName(page)));
    }
    xml.element("KeyCount", page.entries().size());
    document.parameters("MaxKeys", page.truncated());
    contents(document, page, request.fetchOwner());
    return Answers.xml(document.commonPrefixes(page).xml().close());
  }

  private ListPage page(Listing listing, String after)
      throws S3Exception, MetadataUnavailableException {
    ListQuery query =
        new ListQuery(
            listing.bucket(), listing.prefix(), listing.delimiter(), after, listing.max());
    ListPage page = backend.metadata().list(query);
    // S3 calls a page of nothing complete.
    return listing.max() == 0 ? new ListPage(page.entries(), false) : page;
  }

  private void contents(ListingDocument document, ListPage page, boolean withOwner)
      throws MetadataUnavailableException {
    for (ListPage.Entry entry : page.entries()) {
      if (entry instanceof ListPage.Key key) {
        document.xml().open("Contents");
        document.object(key.name(), key.summary());
        if (withOwner) {
          owner(document.xml(), key);
        }
        document.xml().close();
      }
    }
  }

  private XmlWriter owner(XmlWriter xml, ListPage.Key key) throws MetadataUnavailableException {
    String owner = key.summary().getOwner();
    return xml.person("Owner", owner, names.of(owner));
  }

  private static String lastName(ListPage page) {
    return page.entries().get(page.entries().size() - 1).name();
  }
}
