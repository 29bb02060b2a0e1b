//! Loops over owned elements.

use crate::{
    access::Scan,
    changed::Bindings,
    forms::{Visiting, collect_words, macro_arguments, visiting},
    lower::{Lower, at, with},
    names::{Dist, attribute, name_of, named},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Block, ExprForLoop, spanned::Spanned, visit::Visit, visit_mut::VisitMut};

impl Lower<'_> {
    pub(crate) fn forall(&mut self, looping: &mut ExprForLoop) -> TokenStream {
        let span = attribute(&looping.attrs, "__forall").map_or_else(Span::call_site, |found| found.path().span());
        let Some((visiting, bounds)) = visiting(looping) else {
            self.error(span, "`forall (i, a)` takes a name and an array, and may take bounds and a stride");
            return TokenStream::new();
        };
        let array = collect(looping).into_iter().find(|word| *word == visiting.array);
        let array = array.unwrap_or_else(|| named(&visiting.array, span));
        let Some(dist) = self.dist(&array) else {
            self.error(array.span(), format!("`{array}` is no distributed array"));
            return TokenStream::new();
        };
        if visiting.names.len() != dist.spread {
            let message = format!(
                "`{array}` is distributed over {} dimensions, and the loop has {} names",
                dist.spread,
                visiting.names.len()
            );
            self.error(array.span(), message);
        }
        let mut inner = Bindings(std::collections::BTreeSet::new());
        inner.visit_block(&looping.body);
        if let Some(name) = visiting.names.iter().find(|name| inner.0.contains(*name)) {
            self.error(span, format!("`{name}` is bound again in this loop; give one of the two another name"));
        }
        let (pattern, spot, label) = (looping.pat.clone(), at(span), looping.label.clone());
        let names = crate::forms::bound(&pattern);
        let is_fast = bounds.is_empty()
            && dist.dims() == 1
            && !self.inspects
            && label.is_none()
            && self.is_fast(&looping.body, &visiting, &array);
        self.around.push(visiting);
        let tokens = if is_fast {
            let uses = self.uses_in(&looping.body);
            let is_written =
                uses.arrays.get(&array.to_string()).is_some_and(|array| array.own_writes + array.adds.len() > 0);
            let element = with(&array, "here");
            self.fast.push((array.to_string(), element.clone()));
            self.visit_block_mut(&mut looping.body);
            self.fast.pop();
            let body = &looping.body;
            if !dist.is_cyclic {
                // The part is one run of elements, and a plain loop keeps the program's variables in registers.
                let (local, elements) = if is_written {
                    (quote!(let mut __local = #array.local_mut();), quote!(__local.iter_mut()))
                } else {
                    (quote!(let __local = #array.local();), quote!(__local.iter()))
                };
                let mut words = Vec::new();
                collect_words(quote!(#body), &mut words);
                let is_counted = words.iter().any(|word| names.contains(word));
                let looping = if is_counted {
                    quote_spanned!(spot=> for (__number, #element) in #elements.enumerate() {
                        let #pattern = __first + __number;
                        #body
                    })
                } else {
                    quote_spanned!(spot=> for #element in #elements #body)
                };
                let first = is_counted.then(|| quote!(let __first = #array.global(0).unwrap_or(0);));
                quote_spanned!(spot=> { #first #local #looping })
            } else if is_written {
                quote_spanned!(spot=> {
                    #array.forall_mut(|#pattern, #element| { let _ = (#(&#names,)* &#element); #body });
                })
            } else {
                quote_spanned!(spot=> {
                    #array.forall(|#pattern, #element| {
                        let #element = &#element;
                        let _ = (#(&#names,)* #element);
                        #body
                    });
                })
            }
        } else {
            let hidden = std::mem::take(&mut self.fast);
            let bounds: Vec<TokenStream> = bounds.iter().map(|bound| self.lowered(bound)).collect();
            self.visit_block_mut(&mut looping.body);
            self.fast = hidden;
            let indices = self.indices(&array, dist, &bounds, span);
            let body = &looping.body;
            let pattern = if dist.dims() > 1 && dist.spread == 1 { quote!([#pattern]) } else { quote!(#pattern) };
            quote_spanned!(spot=> #label for #pattern in #indices { let _ = (#(&#names,)*); #body })
        };
        self.around.pop();
        tokens
    }

    /// What a loop that is no plain one goes through.
    fn indices(&mut self, array: &Ident, dist: &Dist, bounds: &[TokenStream], span: Span) -> TokenStream {
        let spot = at(span);
        let (dims, spread) = (dist.dims(), dist.spread);
        match bounds {
            [] if dims > 1 => {
                quote_spanned!(spot=> ::superstep::neststep::owned_places::<_, _, #dims, #spread>(#array))
            }
            each if dims > 1 && [2 * spread, 3 * spread].contains(&each.len()) => {
                let each = each.chunks(each.len() / spread).map(|bound| match bound {
                    [low, high, by] => quote!((#low, #high, #by)),
                    pair => quote!((#(#pair,)* 1)),
                });
                let each = quote!([#(#each),*]);
                quote_spanned!(spot=> ::superstep::neststep::owned_places_in::<_, _, #dims, #spread>(#array, #each))
            }
            [] => quote_spanned!(spot=> ::superstep::neststep::owned(#array)),
            [low, high] if dims == 1 => {
                quote_spanned!(spot=> ::superstep::neststep::owned_in(#array, #low, #high, 1))
            }
            [low, high, by] if dims == 1 => {
                quote_spanned!(spot=> ::superstep::neststep::owned_in(#array, #low, #high, #by))
            }
            _ => {
                let message = "a `forall` takes a lower bound and an upper bound, or both and a stride, of every \
                               dimension that it has a name for";
                self.error(span, message);
                TokenStream::new()
            }
        }
    }

    fn uses_in(&self, body: &Block) -> crate::access::Uses {
        let mut scan = Scan::new(&self.plan.names, self.functions);
        scan.around.clone_from(&self.around);
        scan.visit_block(body);
        scan.finish()
    }

    /// Whether a loop can run on the owner's slice: it uses nothing of the array but the element that it visits.
    fn is_fast(&self, body: &Block, visiting: &Visiting, array: &Ident) -> bool {
        let mut scan = Scan::new(&self.plan.names, self.functions);
        scan.around.clone_from(&self.around);
        scan.around.push(visiting.clone());
        scan.visit_block(body);
        let uses = scan.finish();
        let mut words = Vec::new();
        collect_words(quote!(#body), &mut words);
        let leads_out = words.iter().any(|word| word.to_string().starts_with("__step_"));
        let is_nested = words.iter().filter(|word| *word == "__forall").count() > 0;
        let is_alone = uses.arrays.get(&array.to_string()).is_none_or(|array| {
            let others =
                array.reads + array.section_reads + array.section_writes + array.assigns.len() + array.adds.len();
            others == 0 && array.passed.is_none() && !array.is_mirrored
        });
        let in_place = match self.leaf.and_then(|leaf| self.plan.leaves.get(&leaf)) {
            Some(leaf) => leaf.uses.arrays.get(&array.to_string()).is_none_or(crate::access::ArrayUse::is_in_place),
            // A function that is called in a step must not write in place.
            None => uses.arrays.get(&array.to_string()).is_none_or(|array| array.own_writes == 0),
        };
        // Its methods may look at the whole array.
        let mentions = words.iter().filter(|word| *word == array).count();
        let elements = count_elements(body, array);
        is_alone
            && in_place
            && !uses.jumps
            && !uses.calls
            && !leads_out
            && !is_nested
            && uses.steps.is_none()
            && mentions == elements
    }
}

/// The words of a loop's attributes.
fn collect(looping: &ExprForLoop) -> Vec<Ident> {
    let mut words = Vec::new();
    for attribute in &looping.attrs {
        collect_words(quote!(#attribute), &mut words);
    }
    words
}

/// How often an array is named as the base of an element.
fn count_elements(body: &Block, array: &Ident) -> usize {
    struct Count<'a>(&'a Ident, usize);
    impl<'ast> Visit<'ast> for Count<'_> {
        fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
            self.1 += usize::from(name_of(&index.expr).is_some_and(|name| name == self.0));
            syn::visit::visit_expr_index(self, index);
        }

        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            macro_arguments(mac).unwrap_or_default().iter().for_each(|argument| {
                let mut inner = Count(self.0, 0);
                inner.visit_expr(argument);
                self.1 += inner.1;
            });
        }
    }
    let mut count = Count(array, 0);
    count.visit_block(body);
    count.1
}
