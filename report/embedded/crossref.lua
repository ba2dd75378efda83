-- What the embedded default needs of Quarto's Markdown: numbered figures, tables and sections with
-- references that resolve, callouts, tabsets and alternative texts. One pass, for HTML and Typst.
-- Anything unresolved stops the rendering: a report with "?" in it must not look finished.

local is_html = FORMAT:match("html") ~= nil
local NBSP = "\u{a0}"
local NOUNS = { fig = "Figure", tbl = "Table", sec = "Section" }
local CALLOUTS = { note = "Note", tip = "Tip", important = "Important", warning = "Warning", caution = "Caution" }

local labels = {} -- id -> "Figure 3"
local meta_typesetter = nil

local function kind_of(id)
  return id:match("^(%l+)%-")
end

local function raw(text)
  return pandoc.RawBlock("typst", text)
end

-- Section numbers ---------------------------------------------------------------------------------

local depth = { 0, 0, 0, 0, 0, 0 }
local in_appendix = false -- whose number is a letter; on paper the document itself sees to that

local function number_header(header)
  if header.classes:includes("unnumbered") then
    return nil
  end
  if header.classes:includes("appendix") then
    in_appendix = true
    depth[1] = 0
  end
  depth[header.level] = depth[header.level] + 1
  for level = header.level + 1, #depth do
    depth[level] = 0
  end
  local number = table.concat(depth, ".", 1, header.level)
  if in_appendix then
    number = string.char(string.byte("A") + depth[1] - 1) .. (number:match("%..*$") or "")
  end
  labels[header.identifier] = NOUNS.sec .. NBSP .. number
  if is_html then
    if in_appendix then
      header.attributes.number = number -- Pandoc counts those that have none
    end
    local named = { class = "permalink", ["aria-label"] = "Link to section " .. number }
    header.content:insert(pandoc.Link({}, "#" .. header.identifier, "", named))
    return header
  end
end

-- Captions ----------------------------------------------------------------------------------------

local counts = { fig = 0, tbl = 0 }

-- Returns the caption's blocks with "Figure 3." in front, and remembers the label for references.
local function numbered_caption(id, long)
  local kind = kind_of(id)
  if labels[id] then
    error("the id " .. id .. " is used twice")
  end
  counts[kind] = counts[kind] + 1
  labels[id] = NOUNS[kind] .. NBSP .. counts[kind]
  local inlines = pandoc.utils.blocks_to_inlines(long)
  local label = pandoc.Span({ pandoc.Strong(labels[id] .. ".") }, { class = "caption-label" })
  inlines:insert(1, pandoc.Space())
  inlines:insert(1, label)
  return { pandoc.Plain(inlines) }
end

-- A box that scrolls where it is too narrow, by the keyboard too.
local function scrolling(content, attributes)
  attributes.role = "region"
  attributes.tabindex = "0"
  return pandoc.Div(content, attributes)
end

local function finish_figure(figure)
  if kind_of(figure.identifier) ~= "fig" then
    return nil
  end
  figure.caption = { long = numbered_caption(figure.identifier, figure.caption.long) }
  figure = figure:walk({
    Image = function(image)
      local alt = image.attributes["fig-alt"]
      if not alt then
        error("the figure " .. figure.identifier .. " has no fig-alt")
      end
      image.attributes["fig-alt"] = nil
      image.caption = { pandoc.Str(alt) } -- becomes the alt attribute
      return image
    end,
  })
  if is_html then
    local of = "Picture of " .. labels[figure.identifier]
    figure.content = { scrolling(figure.content, { class = "picture", ["aria-label"] = of }) }
  end
  return figure, false
end

-- In a table marked .grouped, a thin rule stands wherever the first column has a new value.
local function mark_groups(tbl)
  for _, body in ipairs(tbl.bodies) do
    local previous = nil
    for _, row in ipairs(body.body) do
      local first = pandoc.utils.stringify(row.cells[1].contents)
      local starts = previous and first ~= "" and first ~= previous
      previous = first ~= "" and first or previous
      if starts then
        row.attr.classes:insert("group-start")
        if not is_html then
          for _, cell in ipairs(row.cells) do
            cell.attr.attributes["typst:stroke"] = "(top: 0.4pt + luma(205))"
          end
        end
      end
    end
  end
end

-- On paper, the first cell of a group spans its rows, so that no page begins with rows of which only
-- the page before tells what they are of.
local function keep_groups_whole(tbl)
  for _, body in ipairs(tbl.bodies) do
    local first = nil
    for _, row in ipairs(body.body) do
      local is_first = pandoc.utils.stringify(row.cells[1].contents) ~= ""
      if is_first or not first then
        first = row.cells[1]
      else
        first.row_span = first.row_span + 1
        first.attr.attributes["typst:breakable"] = "false"
        row.cells:remove(1)
      end
    end
  end
end

local function finish_table(tbl)
  if tbl.classes:includes("grouped") then
    mark_groups(tbl)
    if not is_html then
      keep_groups_whole(tbl)
    end
  end
  tbl.attributes["tbl-colwidths"] = nil
  local id = tbl.identifier
  if kind_of(id) ~= "tbl" then
    error("a table has no #tbl- id: " .. pandoc.utils.stringify(tbl.caption.long))
  end
  local caption = numbered_caption(id, tbl.caption.long)
  if not is_html then
    tbl.caption = { long = caption }
    return tbl, false
  end
  -- Browsers size columns well; the widths of a pipe table's dashes are for paper. The caption
  -- stays outside the box that scrolls.
  for index, spec in ipairs(tbl.colspecs) do
    tbl.colspecs[index] = { spec[1], nil }
  end
  tbl.caption = { long = {} }
  tbl.identifier = ""
  local text = pandoc.Div(caption, pandoc.Attr(id .. "-caption", { "caption" }))
  local box = scrolling({ tbl }, { class = "scroll", ["aria-labelledby"] = id .. "-caption" })
  return pandoc.Div({ text, box }, pandoc.Attr(id, { "table-figure" })), false
end

-- Callouts and tabsets ----------------------------------------------------------------------------

local function callout_kind(div)
  for _, class in ipairs(div.classes) do
    local kind = class:match("^callout%-(%l+)$")
    if kind and CALLOUTS[kind] then
      return kind
    end
  end
end

local function finish_callout(div, kind)
  local title = div.attributes.title or CALLOUTS[kind]
  if is_html then
    div.attributes.title = nil
    div.attributes.role = "note"
    div.classes:insert("callout")
    div.content:insert(1, pandoc.Div({ pandoc.Plain(title) }, { class = "callout-title" }))
    return div
  end
  local blocks = pandoc.Blocks({ raw("#callout(\n[") })
  blocks:insert(pandoc.Plain(title))
  blocks:insert(raw("],[\n"))
  blocks:extend(div.content)
  blocks:insert(raw("\n])"))
  return blocks
end

-- Tabs follow each other: every reference into them works without scripts, and so does printing.
local function finish_tabset(div)
  return div.content:walk({
    Header = function(header)
      header.classes:extend({ "unnumbered", "unlisted", "tab-title" })
      return header
    end,
  })
end

local function finish_div(div)
  local kind = callout_kind(div)
  if kind then
    return finish_callout(div, kind)
  elseif div.classes:includes("panel-tabset") then
    return finish_tabset(div)
  end
end

-- References --------------------------------------------------------------------------------------

local function resolve(cite)
  local inlines = pandoc.Inlines({})
  for index, citation in ipairs(cite.citations) do
    local label = labels[citation.id]
    if not label then
      error("the reference @" .. citation.id .. " points to nothing")
    end
    if index > 1 then
      inlines:extend({ pandoc.Str(","), pandoc.Space() })
    end
    inlines:insert(pandoc.Link({ pandoc.Str(label) }, "#" .. citation.id, "", { class = "ref" }))
  end
  return inlines
end

local function fill_span(span)
  if span.classes:includes("typesetter") then
    return pandoc.Inlines(meta_typesetter)
  elseif span.classes:includes("content-visible") then
    return span.attributes["when-format"] == "html" and is_html and span.content or {}
  end
end

local function reach_code(block)
  if is_html then
    block.attributes.tabindex = "0" -- it scrolls
    return block
  end
end

function Pandoc(doc)
  meta_typesetter = doc.meta.typesetter
  doc = doc:walk({ Div = finish_div })
  doc = doc:walk({
    traverse = "topdown",
    Header = number_header,
    Figure = finish_figure,
    Table = finish_table,
  })
  return doc:walk({ Cite = resolve, Span = fill_span, CodeBlock = reach_code })
end
